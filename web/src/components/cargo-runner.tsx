import type { CargoDetail } from "@atoll/client";
import { useMemo, useState } from "preact/hooks";
import { api } from "../app/api.ts";
import { Link } from "../app/router.tsx";
import { CodeSamples, jobSamples } from "./code-samples.tsx";
import { FeedView } from "./feed-view.tsx";
import { Field } from "./field.tsx";
import { FieldFailure } from "./field-failure.ts";
import { FormError, useForm } from "./form.tsx";
import { useJobFeed } from "./job-feed.ts";
import { describePrice } from "./price.ts";
import { draftOf, readDraft, readJson } from "./schema-form/draft.ts";
import type { InputSchema } from "./schema-form/input-schema.ts";
import { SchemaFields } from "./schema-form/schema-form.tsx";

/** Members of a chat Cargo's input that are shown first. The other members are collapsed. */
const CHAT_MEMBERS = ["prompt", "max_tokens", "temperature"] as const;

/** Shows a form for a Cargo's input, and below it the job that it starts. */
export function CargoRunner({ cargo }: { readonly cargo: CargoDetail }) {
  const schema = useMemo(() => schemaOf(cargo), [cargo]);
  const hasMembers = Object.keys(schema.properties ?? {}).length > 0;
  const [isJson, setJson] = useState(!hasMembers);
  const [draft, setDraft] = useState(() => draftOf(schema, cargo.example_input));
  const [json, setJsonText] = useState(() => JSON.stringify(cargo.example_input, null, 2));
  const [jobId, setJobId] = useState<string | null>(null);
  const read = (): Record<string, unknown> => (isJson ? readWhole(json) : readDraft(schema, draft));
  const form = useForm(async () => {
    const { id } = await api().jobs.submit({ workload: cargo.slug, input: read() });
    setJobId(id);
  });
  const input = useMemo(() => attempt(read), [isJson, json, draft]);
  const toggle = (): void => {
    if (isJson) setDraft(draftOf(schema, attempt(() => readWhole(json)) ?? cargo.example_input));
    else setJsonText(JSON.stringify(input ?? cargo.example_input, null, 2));
    form.clear();
    setJson(!isJson);
  };
  return (
    <div class="runner">
      <form class="panel" onSubmit={form.submit} noValidate>
        <div class="panel-head">
          <h2>Input</h2>
          {hasMembers && (
            <button type="button" class="link-button" onClick={toggle}>
              {isJson ? "Edit as a form" : "Edit as JSON"}
            </button>
          )}
        </div>
        {isJson ? (
          <Field label="Input as JSON" error={form.errorOf("input")}>
            {(props) => (
              <textarea
                {...props}
                class="code"
                rows={14}
                spellcheck={false}
                value={json}
                onInput={(event) => setJsonText(event.currentTarget.value)}
              />
            )}
          </Field>
        ) : (
          <SchemaFields
            schema={schema}
            first={cargo.chat ? CHAT_MEMBERS : null}
            draft={draft}
            onChange={setDraft}
            form={form}
          />
        )}
        <FormError form={form} />
        <div class="actions">
          <span class="muted">
            Costs <span class="num">{describePrice(cargo)}</span>
          </span>
          <button class="button primary" disabled={form.isBusy}>
            {form.isBusy ? "Submitting…" : "Run"}
          </button>
        </div>
      </form>
      {jobId !== null && <StartedJob key={jobId} id={jobId} />}
      <details class="panel">
        <summary>Call from code</summary>
        <CodeSamples samples={jobSamples(cargo.slug, input ?? cargo.example_input)} />
      </details>
    </div>
  );
}

/**
 * Limits `max_tokens` to the Cargo's context, because all chat Cargos share a schema with the limit of the largest
 * context.
 */
function schemaOf({ input_schema, chat, context_tokens: maximum }: CargoDetail): InputSchema {
  const schema = input_schema as InputSchema;
  const length = schema.properties?.["max_tokens"];
  if (!chat || maximum === null || length === undefined) return schema;
  return { ...schema, properties: { ...schema.properties, max_tokens: { ...length, maximum } } };
}

function StartedJob({ id }: { readonly id: string }) {
  const feed = useJobFeed(id);
  return (
    <section class="panel" aria-label="Output">
      <div class="panel-head">
        <h2>Output</h2>
        <Link to={`/jobs/${id}`}>Job {id}</Link>
      </div>
      <FeedView feed={feed} />
    </section>
  );
}

function readWhole(json: string): Record<string, unknown> {
  const value = readJson("", json.trim() === "" ? "{}" : json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new FieldFailure("input", "Enter a JSON object");
  }
  return value as Record<string, unknown>;
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
