import { api } from "../../app/api.ts";
import { useLiveOverview } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { Link } from "../../app/router.tsx";
import { formatWhole } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { SimpleTable } from "../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { reasonInWords } from "./reasons.ts";

export function QueuePage() {
  const queue = useResource((signal) => api().operator.queue({ signal }), []);
  // The overview also changes when the queue changes.
  useLiveOverview(queue.reload);
  return (
    <>
      <PageHead title="Queue" note="Waiting jobs by Cargo and reason, of all coordinators." />
      <Loaded of={queue} what="the queue">
        {({ data, is_complete: isComplete }) => (
          <>
            {!isComplete && (
              <div class="banner warning" role="status">
                A coordinator did not respond, so its jobs are missing here.
              </div>
            )}
            {data.length === 0 ? (
              <EmptyState title="No jobs are waiting" />
            ) : (
              <section class="panel">
                <SimpleTable
                  rows={data}
                  label="Queue"
                  keyOf={({ workload_slug, reason, only_islands_of }) =>
                    `${workload_slug} ${reason} ${only_islands_of}`
                  }
                  columns={[
                    {
                      label: "Cargo",
                      cell: ({ workload_slug: slug }) => (
                        <Link to={`/operator/jobs?show=Unfinished&cargo=${encodeURIComponent(slug)}`}>{slug}</Link>
                      ),
                    },
                    { label: "Jobs", isNumber: true, cell: ({ jobs }) => formatWhole(jobs) },
                    { label: "Reason", cell: ({ reason }) => reasonInWords(reason) },
                    { label: "Oldest waiting since", cell: (line) => <Ago at={line.waiting_since} /> },
                    { label: "Details", cell: ({ message }) => <span class="wrap">{message}</span>, isExtra: true },
                  ]}
                />
              </section>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
