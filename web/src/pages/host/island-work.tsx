import type { IslandDetail } from "@atoll/client";
import { formatDuration, formatMegabytes } from "../../components/numbers.ts";
import { Link } from "../../app/router.tsx";
import { Elapsed } from "../../components/time.tsx";

type Download = IslandDetail["downloads"][number];

const MB = 1_024 * 1_024;

/** What an Island runs, fetches and loads now. Nothing while it does none of it. */
export function IslandWork({ island: { running, downloads, loading } }: { readonly island: IslandDetail }) {
  return (
    <>
      {running.length > 0 && (
        <>
          <h3>Jobs now</h3>
          <ul class="work" aria-label="Jobs now">
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
          <h3>Models on their way</h3>
          <ul class="work" aria-label="Models on their way">
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
                <span>loads into memory</span>
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

/** `share` null: not known, and a bar that moves. */
function Bar({ share }: { readonly share: number | null }) {
  return (
    <span class={share === null ? "meter-bar unsized" : "meter-bar"} aria-hidden="true">
      <span style={share === null ? {} : { width: `${Math.floor(share * 100)}%` }} />
    </span>
  );
}

/** "120 of 202 MiB, 4 MiB/s, 20 s left", as far as it is known. */
function describe({
  received_bytes: received,
  total_bytes: total,
  bytes_per_second: speed,
  fraction,
}: Download): string {
  if (received === null) return fraction === null ? "downloads" : `downloads, ${Math.floor(fraction * 100)} %`;
  const bytes = formatMegabytes(received / MB);
  const parts = [total === null ? bytes : `${bytes} of ${formatMegabytes(total / MB)}`];
  if (speed !== null) parts.push(`${formatMegabytes(speed / MB)}/s`);
  if (speed !== null && speed > 0 && total !== null && total > received) {
    parts.push(`${formatDuration(Math.ceil((total - received) / speed) * 1_000)} left`);
  }
  return parts.join(", ");
}
