import { useId, useState } from "preact/hooks";
import { BASE_URL } from "../app/base.ts";
import { addressFor, useDownloads } from "./downloads.ts";
import { CopyButton } from "./copy-button.tsx";

/** A request as source code. API keys are never shown: code reads them from the environment. */
export interface Sample {
  readonly label: string;
  readonly code: string;
  /** Whether the code needs `@atoll/client`. */
  readonly usesClient?: boolean;
}

/** Tabs with one request in several languages. */
export function CodeSamples({ samples }: { readonly samples: readonly Sample[] }) {
  const [chosen, choose] = useState(0);
  const id = useId();
  const sample = samples[Math.min(chosen, samples.length - 1)];
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = (chosen + step + samples.length) % samples.length;
    choose(next);
    document.getElementById(`${id}-tab-${next}`)?.focus();
  };
  return (
    <div class="samples">
      <div class="samples-head">
        <div role="tablist" aria-label="Language" onKeyDown={move}>
          {samples.map(({ label }, index) => (
            <button
              key={label}
              type="button"
              role="tab"
              id={`${id}-tab-${index}`}
              aria-selected={index === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={index === chosen ? 0 : -1}
              onClick={() => choose(index)}
            >
              {label}
            </button>
          ))}
        </div>
        <CopyButton text={sample?.code ?? ""} />
      </div>
      <pre id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-tab-${chosen}`} tabIndex={0} class="output">
        {sample?.code}
      </pre>
      {sample?.usesClient === true && <ClientHint />}
    </div>
  );
}

/** Says how to install the client, which is not on any package registry. */
function ClientHint() {
  const { value } = useDownloads();
  if (value === undefined) return null;
  const file = value.files.find((each) => each.package === "client" && each.format === "npm");
  return (
    <p class="hint">
      {file === undefined ? (
        <>
          This client is not on a package registry. Ask the operator of the network for the file{" "}
          <code>atoll-client-….tgz</code>, and install that file with npm.
        </>
      ) : (
        <>
          Install the client with <code>{`npm install ${addressFor(value)}${file.path}`}</code>
        </>
      )}
    </p>
  );
}

export function chatSamples(body: Readonly<Record<string, unknown>>): Sample[] {
  const json = JSON.stringify({ ...body, stream: true }, null, 2);
  return [
    { label: "curl", code: curl("chat/completions", json, "-N ") },
    {
      label: "openai",
      code: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(apiUrl("v1"))}, apiKey: process.env.ATOLL_API_KEY });
const stream = await client.chat.completions.create(${json});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
`,
    },
    {
      label: "@atoll/client",
      usesClient: true,
      code: `import { Atoll } from "@atoll/client";

const atoll = new Atoll({ baseUrl: ${JSON.stringify(apiUrl(""))}, apiKey: process.env.ATOLL_API_KEY });
for await (const text of atoll.chat.text(${JSON.stringify(body, null, 2)})) {
  process.stdout.write(text);
}
`,
    },
  ];
}

export function jobSamples(workload: string, input: Readonly<Record<string, unknown>>): Sample[] {
  const body = JSON.stringify({ workload, input: shortened(input) }, null, 2);
  return [
    { label: "curl", code: curl("jobs", body, "") },
    {
      label: "@atoll/client",
      usesClient: true,
      code: `import { Atoll } from "@atoll/client";

const atoll = new Atoll({ baseUrl: ${JSON.stringify(apiUrl(""))}, apiKey: process.env.ATOLL_API_KEY });
const { output } = await atoll.jobs.run(${body});
console.log(output);
`,
    },
  ];
}

function curl(path: string, json: string, flags: string): string {
  const quoted = json.replaceAll("'", String.raw`'\''`);
  return `curl ${flags}${apiUrl(`api/v1/${path}`)} \\
  -H "Authorization: Bearer $ATOLL_API_KEY" -H "Content-Type: application/json" \\
  -d '${quoted}'
`;
}

function apiUrl(path: string): string {
  return new URL(path, BASE_URL).href.replace(/\/$/, "");
}

/** Shortens files in base64, to keep the code readable. */
function shortened(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === "string" && value.length > 2_000 ? `${value.slice(0, 40)}…` : value,
    ]),
  );
}
