import { z } from "zod";

/**
 * API parameter that has no effect here. No parameter is silently dropped. An `ignored` one is accepted, because the
 * response is still correct without it, and the response names it. A `refused` one is an error, because the response
 * would otherwise mean something else.
 */
export interface UnsupportedField {
  readonly rule: "ignored" | "refused";
  /** Reason in one phrase, for documents and errors. */
  readonly note: string;
  /** Values that request the default behavior. They are accepted without notice, as is `null`. */
  readonly neutral: readonly unknown[];
}

type Members = Readonly<Record<string, z.ZodType | UnsupportedField>>;
type SupportedOf<M extends Members> = {
  [Name in keyof M as M[Name] extends z.ZodType ? Name : never]: Extract<M[Name], z.ZodType>;
};

interface FieldNotes {
  /** All members of an object in the order of declaration. Members that have an effect are null. */
  members?: ReadonlyMap<string, UnsupportedField | null>;
  ignoredEntry?: IgnoredEntry;
}

/** Entries of a list that are accepted and not used. */
export interface IgnoredEntry {
  readonly note: string;
  readonly matches: (entry: unknown) => boolean;
}

export function ignored(note: string, neutral: readonly unknown[] = []): UnsupportedField {
  return { rule: "ignored", note, neutral };
}

export function refused(note: string, neutral: readonly unknown[] = []): UnsupportedField {
  return { rule: "refused", note, neutral };
}

/** Reasons that several endpoints share. */
export const OPENAI_LABEL = ignored("a label that only OpenAI uses");
export const OPENAI_PRICE = ignored("controls OpenAI's prompt cache");
export const ANTHROPIC_PRICE = ignored("controls Anthropic's prompt cache");
export const EARLIER_RESPONSE = ignored("metadata of an earlier response; not sent to the model");
export const EARLIER_REASONING = ignored("reasoning of earlier turns is not sent to the model");

/**
 * Creates the schema of an object in a request from its effective members. All other members are recorded in it for
 * `coordinator/http/openai/parameters.ts`.
 */
export function requestObject<const M extends Members>(members: M): z.ZodObject<SupportedOf<M>> {
  const supported: Record<string, z.ZodType> = {};
  const all = new Map<string, UnsupportedField | null>();
  for (const [name, member] of Object.entries(members)) {
    if (member instanceof z.ZodType) supported[name] = member;
    all.set(name, member instanceof z.ZodType ? null : member);
  }
  return withNotes(z.object(supported) as unknown as z.ZodObject<SupportedOf<M>>, { members: all });
}

/** Records that entries with this schema, one of several in a list, are ignored. */
export function ignoredEntry<S extends z.ZodType>(schema: S, note: string, matches: IgnoredEntry["matches"]): S {
  return withNotes(schema, { ignoredEntry: { note, matches } });
}

/** Returns what {@link requestObject} and {@link ignoredEntry} recorded in a schema. */
export function fieldNotesOf(schema: z.ZodType): FieldNotes {
  return schema.def as FieldNotes;
}

/**
 * Records notes in the schema's definition, which copies share, such as the copies that `refine` and `openapi` make.
 */
function withNotes<S extends z.ZodType>(schema: S, notes: FieldNotes): S {
  Object.assign(schema.def, notes);
  return schema;
}
