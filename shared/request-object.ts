import { z } from "zod";

/**
 * A parameter of an API that has no effect here. Nothing is dropped in silence: an `ignored` one is accepted, as the response is still
 * correct without it, and the response names it; a `refused` one is an error, as the response would mean something else without it.
 */
export interface Unhonoured {
  readonly rule: "ignored" | "refused";
  /** Why, in one phrase: for the documents and for the error. */
  readonly note: string;
  /** Values that ask for what happens anyway; they are accepted without notice, as `null` is everywhere. */
  readonly neutral: readonly unknown[];
}

type Members = Readonly<Record<string, z.ZodType | Unhonoured>>;
type HonouredOf<M extends Members> = {
  [Name in keyof M as M[Name] extends z.ZodType ? Name : never]: Extract<M[Name], z.ZodType>;
};

interface Noted {
  /** All members of an object in the order of its declaration; those that are honoured have null. */
  members?: ReadonlyMap<string, Unhonoured | null>;
  ignoredEntry?: IgnoredEntry;
}

/** Entries of a list that are accepted and not used. */
export interface IgnoredEntry {
  readonly note: string;
  readonly matches: (entry: unknown) => boolean;
}

export function ignored(note: string, neutral: readonly unknown[] = []): Unhonoured {
  return { rule: "ignored", note, neutral };
}

export function refused(note: string, neutral: readonly unknown[] = []): Unhonoured {
  return { rule: "refused", note, neutral };
}

/** Reasons that several endpoints share. */
export const OPENAI_LABEL = ignored("a label that only OpenAI uses");
export const OPENAI_PRICE = ignored("controls OpenAI's prompt cache");
export const ANTHROPIC_PRICE = ignored("controls Anthropic's prompt cache");
export const EARLIER_ANSWER = ignored("metadata of an earlier response; not sent to the model");
export const EARLIER_REASONING = ignored("reasoning of earlier turns is not sent to the model");

/** The schema of an object in a request: its honoured members, with the others noted in it for `coordinator/http/openai/parameters.ts`. */
export function requestObject<const M extends Members>(members: M): z.ZodObject<HonouredOf<M>> {
  const honoured: Record<string, z.ZodType> = {};
  const all = new Map<string, Unhonoured | null>();
  for (const [name, member] of Object.entries(members)) {
    if (member instanceof z.ZodType) honoured[name] = member;
    all.set(name, member instanceof z.ZodType ? null : member);
  }
  return noting(z.object(honoured) as unknown as z.ZodObject<HonouredOf<M>>, { members: all });
}

/** Notes that entries with this schema, one of several in a list, are ignored. */
export function ignoredEntry<S extends z.ZodType>(schema: S, note: string, matches: IgnoredEntry["matches"]): S {
  return noting(schema, { ignoredEntry: { note, matches } });
}

/** What {@link requestObject} and {@link ignoredEntry} have noted in a schema. */
export function notedIn(schema: z.ZodType): Noted {
  return schema.def as Noted;
}

/** The definition of a schema is what its copies share, such as those of `refine` and `openapi`. */
function noting<S extends z.ZodType>(schema: S, noted: Noted): S {
  Object.assign(schema.def, noted);
  return schema;
}
