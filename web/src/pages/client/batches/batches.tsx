import type { Cargo, JobSummary } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import { Link, navigate } from "../../../app/router.tsx";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { PageHead } from "../../../components/page-head.tsx";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { Ago } from "../../../components/time.tsx";
import { readInputs } from "./read-inputs.ts";
import { mostAvailable } from "../playground/availability.ts";
import { readAvailability } from "../playground/use-availability.ts";
import { loadPlayable } from "../playground/playable.ts";

/** Number of newest jobs among which batches are looked up. The API has no list of batches. */
const MAX_JOBS_SEARCHED = 100;

interface RecentBatch {
  readonly id: string;
  readonly cargo: string;
  readonly createdAt: string;
  readonly jobs: number;
}

export function BatchesPage() {
  const recent = useResource(
    async (signal) => batchesOf((await api().jobs.list({ pageSize: MAX_JOBS_SEARCHED }, { signal }).page()).data),
    [],
  );
  const cargos = useResource(async (signal) => {
    const [list, known] = await Promise.all([loadPlayable(signal), readAvailability(signal).catch(() => null)]);
    return {
      list,
      first:
        mostAvailable(
          list.filter(({ chat }) => chat),
          known,
        ) ?? mostAvailable(list, known),
    };
  }, []);
  return (
    <>
      <PageHead title="Batches" note="Up to 100 jobs of one Cargo, submitted and cancelled together." />
      <Loaded of={cargos} what="the Cargos">
        {({ list, first }) =>
          first === undefined ? (
            <EmptyState title="The catalog is empty">
              <p>The operator of the network has not enabled any Cargo.</p>
            </EmptyState>
          ) : (
            <NewBatch cargos={list} first={first.slug} />
          )
        }
      </Loaded>
      <section class="panel" aria-labelledby="recent-title">
        <h2 id="recent-title">Batches of your newest {MAX_JOBS_SEARCHED} jobs</h2>
        <Loaded of={recent} what="the batches">
          {(batches) =>
            batches.length === 0 ? (
              <EmptyState title="No batches yet">
                <p>Submit one with the form above, or through the API.</p>
              </EmptyState>
            ) : (
              <SimpleTable
                rows={batches}
                label="Batches"
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: "Batch",
                    cell: ({ id }) => (
                      <Link to={`/batches/${id}`} class="id">
                        {id}
                      </Link>
                    ),
                  },
                  { label: "Cargo", cell: ({ cargo }) => cargo },
                  { label: "Jobs", isNumber: true, cell: ({ jobs }) => jobs },
                  { label: "Submitted", cell: ({ createdAt }) => <Ago at={createdAt} /> },
                ]}
              />
            )
          }
        </Loaded>
      </section>
    </>
  );
}

function NewBatch({ cargos, first }: { readonly cargos: readonly Cargo[]; readonly first: string }) {
  const [slug, setSlug] = useState(first);
  const [lines, setLines] = useState("");
  const [failMode, setFailMode] = useState<"best_effort" | "fail_fast">("best_effort");
  const isChat = cargos.find((cargo) => cargo.slug === slug)?.chat === true;
  const form = useForm(async () => {
    const batch = await api().batches.submit({
      workload: slug,
      inputs: readInputs(lines, isChat),
      fail_mode: failMode,
    });
    navigate(`/batches/${batch.id}`);
  });
  return (
    <form class="panel" onSubmit={form.submit} noValidate>
      <h2>New batch</h2>
      <div class="field-grid">
        <Field label="Cargo" error={form.errorOf("workload")}>
          {(props) => (
            <select {...props} value={slug} onChange={(event) => setSlug(event.currentTarget.value)}>
              {cargos.map((cargo) => (
                <option key={cargo.slug} value={cargo.slug}>
                  {cargo.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="If a job fails" error={form.errorOf("fail_mode")}>
          {(props) => (
            <select
              {...props}
              value={failMode}
              onChange={(event) => setFailMode(event.currentTarget.value as typeof failMode)}
            >
              <option value="best_effort">continue with the other jobs</option>
              <option value="fail_fast">cancel the other jobs</option>
            </select>
          )}
        </Field>
      </div>
      <Field
        label="Inputs"
        hint={isChat ? "One prompt or one JSON object per line" : "One JSON object per line"}
        error={form.errorOf("inputs")}
      >
        {(props) => (
          <textarea
            {...props}
            class="code"
            rows={6}
            spellcheck={false}
            placeholder={isChat ? "Count to 3.\nCount to 5." : "{…}"}
            value={lines}
            onInput={(event) => setLines(event.currentTarget.value)}
          />
        )}
      </Field>
      <FormError form={form} />
      <div class="actions">
        <Link to={`/catalog/${slug}`}>Input format of this Cargo</Link>
        <button class="button primary" disabled={form.isBusy}>
          {form.isBusy ? "Submitting…" : "Submit"}
        </button>
      </div>
    </form>
  );
}

function batchesOf(jobs: readonly JobSummary[]): RecentBatch[] {
  const batches = new Map<string, RecentBatch>();
  for (const { batch_id: id, workload_slug: cargo, created_at: createdAt } of jobs) {
    if (id === null) continue;
    batches.set(id, { id, cargo, createdAt, jobs: (batches.get(id)?.jobs ?? 0) + 1 });
  }
  return [...batches.values()];
}
