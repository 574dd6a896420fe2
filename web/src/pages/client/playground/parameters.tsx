import type { ChatBody } from "@atoll/client";
import { Field } from "../../../components/field.tsx";
import { FieldFailure } from "../../../components/field-failure.ts";
import { type Form } from "../../../components/form.tsx";

/** Parameters as typed. Empty parameters use the Cargo's default. */
export interface Parameters {
  readonly system: string;
  readonly temperature: string;
  readonly top_p: string;
  readonly max_tokens: string;
  readonly seed: string;
  readonly stop: string;
  readonly format: "text" | "json_object" | "json_schema";
  readonly schema: string;
}

export const NO_PARAMETERS: Parameters = {
  system: "",
  temperature: "",
  top_p: "",
  max_tokens: "",
  seed: "",
  stop: "",
  format: "text",
  schema: '{\n  "type": "object",\n  "properties": { "answer": { "type": "string" } },\n  "required": ["answer"]\n}',
};

const NUMBERS = [
  { name: "temperature", label: "Temperature", hint: "0 to 2", isWhole: false },
  { name: "top_p", label: "Top p", hint: "0 to 1", isWhole: false },
  { name: "max_tokens", label: "Max tokens", hint: "Maximum length of the answer", isWhole: true },
  { name: "seed", label: "Seed", hint: "Use the same seed to get the same answer", isWhole: true },
] as const;

/** Returns the request's parameters. @throws {FieldFailure} at an invalid field. */
export function readParameters(typed: Parameters): Omit<ChatBody, "messages" | "model"> {
  const body: Record<string, unknown> = {};
  for (const { name, isWhole } of NUMBERS) {
    const text = typed[name].trim();
    if (text === "") continue;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new FieldFailure(name, "Enter a number");
    if (isWhole && !Number.isInteger(value)) throw new FieldFailure(name, "Enter a whole number");
    body[name] = value;
  }
  if (typed.stop !== "") body["stop"] = typed.stop.split("\n").filter((line) => line !== "");
  if (typed.format === "json_object") body["response_format"] = { type: "json_object" };
  if (typed.format === "json_schema") {
    body["response_format"] = {
      type: "json_schema",
      json_schema: { name: "answer", schema: readSchema(typed.schema) },
    };
  }
  return body;
}

function readSchema(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new FieldFailure("response_format", `Not valid JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

export function ParameterFields({
  typed,
  onChange,
  form,
  defaults,
}: {
  readonly typed: Parameters;
  readonly onChange: (typed: Parameters) => void;
  readonly form: Form;
  /** Placeholders of empty fields. */
  readonly defaults: Readonly<Record<string, string>>;
}) {
  const take = (name: keyof Parameters) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...typed, [name]: event.currentTarget.value });
  return (
    <div class="parameters">
      <Field label="System prompt" isOptional>
        {(props) => <textarea {...props} rows={3} value={typed.system} onInput={take("system")} />}
      </Field>
      <div class="field-grid">
        {NUMBERS.map(({ name, label, hint }) => (
          <Field key={name} label={label} hint={hint} error={form.errorOf(name)}>
            {(props) => (
              <input
                {...props}
                inputMode="decimal"
                autocomplete="off"
                placeholder={defaults[name] ?? ""}
                value={typed[name]}
                onInput={take(name)}
              />
            )}
          </Field>
        ))}
      </div>
      <Field label="Stop sequences" hint="One per line" error={form.errorOf("stop")}>
        {(props) => <textarea {...props} rows={2} value={typed.stop} onInput={take("stop")} />}
      </Field>
      <Field
        label="Response format"
        error={typed.format === "json_schema" ? undefined : form.errorOf("response_format")}
      >
        {(props) => (
          <select {...props} value={typed.format} onChange={take("format")}>
            <option value="text">Text</option>
            <option value="json_object">JSON</option>
            <option value="json_schema">JSON with a schema</option>
          </select>
        )}
      </Field>
      {typed.format === "json_schema" && (
        <Field label="JSON Schema" error={form.errorOf("response_format")}>
          {(props) => (
            <textarea
              {...props}
              class="code"
              rows={6}
              spellcheck={false}
              value={typed.schema}
              onInput={take("schema")}
            />
          )}
        </Field>
      )}
    </div>
  );
}
