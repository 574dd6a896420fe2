import { useState } from "preact/hooks";
import { Field, type ControlProps } from "../field.tsx";
import type { Form } from "../form.tsx";
import type { Draft } from "./draft.ts";
import { FileControl } from "./file-control.tsx";
import { controlFor, membersOf, placeholderOf, type FormMember, type InputSchema } from "./input-schema.ts";

interface MemberProps extends FormMember {
  readonly typed: string | boolean;
  readonly onType: (typed: string | boolean) => void;
  readonly error: string | undefined;
}

/**
 * Form fields for the JSON Schema of a Cargo's input. `first` contains the members to show; all others are collapsed.
 * Null shows all members.
 */
export function SchemaFields({
  schema,
  first,
  draft,
  onChange,
  form,
}: {
  readonly schema: InputSchema;
  readonly first: readonly string[] | null;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly form: Form;
}) {
  const members = membersOf(schema);
  const isFolded = ({ name }: FormMember): boolean => first !== null && !first.includes(name);
  const placeOf = ({ name }: FormMember): number => first?.indexOf(name) ?? 0;
  const shown = members.filter((member) => !isFolded(member)).toSorted((a, b) => placeOf(a) - placeOf(b));
  const folded = members.filter(isFolded);
  const fieldOf = (member: FormMember) => (
    <Member
      key={member.name}
      {...member}
      typed={draft[member.name] ?? ""}
      onType={(typed) => onChange({ ...draft, [member.name]: typed })}
      error={form.errorOf(`input.${member.name}`)}
    />
  );
  // The section is open if the example sets collapsed members. Fields with errors are always visible.
  const [isOpen, setOpen] = useState(() => folded.some((member) => isTyped(member.schema, draft[member.name])));
  const isWrong = folded.some(({ name }) => form.errorOf(`input.${name}`) !== undefined);
  return (
    <>
      <div class="schema-fields">{shown.map(fieldOf)}</div>
      {folded.length > 0 && (
        <details open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>More options</summary>
          <div class="schema-fields">{folded.map(fieldOf)}</div>
        </details>
      )}
    </>
  );
}

function isTyped({ default: value }: InputSchema, typed: string | boolean | undefined): boolean {
  return typeof typed === "boolean" ? typed !== (value ?? false) : typed !== undefined && typed !== "";
}

function Member(member: MemberProps) {
  const { name, schema, isOptional, typed, onType, error } = member;
  if (controlFor(schema) === "check") {
    return (
      <div class="field check">
        <label>
          <input type="checkbox" checked={typed === true} onChange={(event) => onType(event.currentTarget.checked)} />
          {labelOf(name)}
        </label>
        {schema.description !== undefined && <p class="hint">{schema.description}</p>}
      </div>
    );
  }
  return (
    <Field label={labelOf(name)} hint={hintOf(schema)} error={error} isOptional={isOptional}>
      {(props) => <MemberControl {...member} props={props} />}
    </Field>
  );
}

function MemberControl({ schema, isRequired, typed, onType, props }: MemberProps & { readonly props: ControlProps }) {
  const value = typeof typed === "string" ? typed : "";
  const type = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onType(event.currentTarget.value);
  const common = { ...props, value, onInput: type, required: isRequired };
  const limit = schema.maxLength === undefined ? {} : { maxLength: schema.maxLength };
  switch (controlFor(schema)) {
    case "choice":
      return (
        <select {...props} value={value} onChange={type}>
          {!(isRequired && schema.default === undefined && value !== "") && (
            <option value="">{defaultLabel(schema)}</option>
          )}
          {(schema.enum ?? []).map((each) => (
            <option key={JSON.stringify(each)} value={JSON.stringify(each)}>
              {typeof each === "string" ? each : JSON.stringify(each)}
            </option>
          ))}
        </select>
      );
    case "number":
      return <input {...common} inputMode="decimal" placeholder={placeholderOf(schema)} autocomplete="off" />;
    case "line":
      return <input {...common} {...limit} placeholder={placeholderOf(schema)} autocomplete="off" />;
    case "file":
      return <FileControl props={props} value={value} onValue={onType} />;
    case "lines":
      return <textarea {...common} rows={4} placeholder="One per line" />;
    case "json":
      return <textarea {...common} class="code" rows={4} placeholder="JSON" spellcheck={false} />;
    default:
      return <textarea {...common} {...limit} rows={4} placeholder={placeholderOf(schema)} />;
  }
}

/** Turns "negative_prompt" into "Negative prompt". */
function labelOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function defaultLabel(schema: InputSchema): string {
  return schema.default === undefined ? "Not set" : `Default (${placeholderOf(schema)})`;
}

function hintOf({ description, minimum, maximum, exclusiveMinimum: above }: InputSchema): string | undefined {
  const least = minimum === undefined ? "" : `at least ${minimum.toLocaleString("en")}`;
  const most =
    maximum === undefined
      ? ""
      : `${above === undefined ? "" : `above ${above}, `}at most ${maximum.toLocaleString("en")}`;
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum.toLocaleString("en")} to ${maximum.toLocaleString("en")}`
      : least + most;
  const parts = [description, range].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? undefined : parts.join("; ");
}
