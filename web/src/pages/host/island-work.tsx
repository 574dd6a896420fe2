import type { IslandDetail } from "@atoll/client";
import { formatDuration, formatMegabytes } from "../../components/numbers.ts";
import { Link } from "../../app/router.tsx";
import { Elapsed } from "../../components/time.tsx";

type Download = IslandDetail["downloads"][number];

const MB = 1_024 * 1_024;

/** Lists an Island's running jobs and the models that it downloads or loads. Otherwise empty. */
export function IslandWork({ island: { running, downloads, loading } }: { readonly island: IslandDetail }) {
  return (
    <>
      {running.length > 0 && (
        <>
          <h3>Running jobs</h3>
          <ul class="work" aria-label="Running jobs">
            {running.map(({ cargo, since }, index) => (
              <li key={`${since} ${index}`}>
                <CargoLink slug={cargo} />
                <span>
                  for <Elapsed since={since} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {downloads.length + loading.length > 0 && (
        <>
          <h3>Downloading and loading</h3>
          <ul class="work" aria-label="Downloading and loading">
            {downloads.map((download, index) => (
              <li key={`${download.cargo} ${index}`}>
                <CargoLink slug={download.cargo} />
                <span class="num">{describe(download)}</span>
                <Bar share={download.fraction} />
              </li>
            ))}
            {loading.map((cargo) => (
              <li key={`${cargo} loads`}>
                <CargoLink slug={cargo} />
                <span>loading into memory</span>
                <Bar share={null} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function CargoLink({ slug }: { readonly slug: string }) {
  return <Link to={`/catalog/${encodeURIComponent(slug)}`}>{slug}</Link>;
}

/** Progress bar. It is animated while `share` is unknown (null). */
function Bar({ share }: { readonly share: number | null }) {
  return (
    <span class={share === null ? "meter-bar unsized" : "meter-bar"} aria-hidden="true">
      <span style={share === null ? {} : { width: `${Math.floor(share * 100)}%` }} />
    </span>
  );
}

/** Returns the known facts of a download, such as "120 MiB of 202 MiB, 4 MiB/s, 20 s left". */
function describe({
  received_bytes: received,
  total_bytes: total,
  bytes_per_second: speed,
  fraction,
}: Download): string {
  if (received === null) return fraction === null ? "downloading" : `downloading, ${Math.floor(fraction * 100)} %`;
  const bytes = formatMegabytes(received / MB);
  const parts = [total === null ? bytes : `${bytes} of ${formatMegabytes(total / MB)}`];
  if (speed !== null) parts.push(`${formatMegabytes(speed / MB)}/s`);
  if (speed !== null && speed > 0 && total !== null && total > received) {
    parts.push(`${formatDuration(Math.ceil((total - received) / speed) * 1_000)} left`);
  }
  return parts.join(", ");
}
