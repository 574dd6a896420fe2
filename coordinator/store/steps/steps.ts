import type { Tx } from "./tx.ts";

type Body = (tx: Tx, ...args: never[]) => Promise<unknown>;

/**
 * A method of a store. Its body awaits only its transaction; its arguments and result can be copied to another thread.
 * `pageRead`: its cost grows with the data of an account, so SQLite runs it in a separate thread. `write`: runs in one
 * transaction, which is rolled back if the body throws.
 */
export interface Step<B extends Body = Body> {
  readonly kind: "read" | "pageRead" | "write";
  readonly body: B;
  /** Whether all statements must see one state of the database. */
  readonly isSnapshot?: true;
  /** Whether the step waits while storage is unavailable; other steps are then refused. */
  readonly isKept?: true;
}
export type Steps = Readonly<Record<string, Step>>;

export const read = <B extends Body>(body: B): Step<B> => ({ kind: "read", body });
export const pageRead = <B extends Body>(body: B): Step<B> => ({ kind: "pageRead", body });
/** Defines a page read whose statements all see one state of the database. */
export const snapshotRead = <B extends Body>(body: B): Step<B> => ({ kind: "pageRead", isSnapshot: true, body });
export const write = <B extends Body>(body: B): Step<B> => ({ kind: "write", body });
/** Marks a step that records what already happened, or without which a job cannot continue. */
export const kept = <B extends Body>(step: Step<B>): Step<B> => ({ ...step, isKept: true });

type MethodOf<B> = B extends (tx: Tx, ...args: infer A) => infer R ? (...args: A) => R : never;

/** The methods of a store, as its callers see them. */
export type Opened<S extends Steps> = {
  readonly [K in keyof S]: S[K] extends Step<infer B> ? MethodOf<B> : never;
};

/** Runs a step in an engine. `name`: store and step, such as "islands.save". */
export type RunStep = (name: string, step: Step, args: readonly unknown[]) => Promise<unknown>;

export function openStore<S extends Steps>(store: string, steps: S, run: RunStep): Opened<S> {
  const methods = Object.entries(steps).map(([key, step]) => {
    const name = `${store}.${key}`;
    return [key, (...args: unknown[]) => run(name, step, args)];
  });
  return Object.fromEntries(methods) as Opened<S>;
}

/** Calls the body. Its arguments need no check, because the method has checked them at compile time. */
export function runBody({ body }: Step, tx: Tx, args: readonly unknown[]): Promise<unknown> {
  return (body as (tx: Tx, ...args: readonly unknown[]) => Promise<unknown>)(tx, ...args);
}
