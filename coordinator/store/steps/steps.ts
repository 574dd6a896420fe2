import type { Tx } from "./tx.ts";

type Body = (tx: Tx, ...args: never[]) => Promise<unknown>;

/**
 * A method of a store. Its body awaits only its transaction. Its arguments and result can be copied to another thread.
 * `pageRead`: its cost grows with the data of an account, so SQLite runs it in a separate thread. `write`: runs in one
 * transaction; a body that throws has written nothing.
 */
export interface Step<B extends Body = Body> {
  readonly kind: "read" | "pageRead" | "write";
  readonly body: B;
  /** All its statements see one state of the database. */
  readonly isSnapshot?: true;
  /** Waits while storage is unavailable; other steps are refused. */
  readonly isKept?: true;
}
export type Steps = Readonly<Record<string, Step>>;

export const read = <B extends Body>(body: B): Step<B> => ({ kind: "read", body });
export const pageRead = <B extends Body>(body: B): Step<B> => ({ kind: "pageRead", body });
/** A page read whose statements need one consistent state. */
export const snapshotRead = <B extends Body>(body: B): Step<B> => ({ kind: "pageRead", isSnapshot: true, body });
export const write = <B extends Body>(body: B): Step<B> => ({ kind: "write", body });
/** Marks a step for what has already happened, or for what a job cannot continue without. */
export const kept = <B extends Body>(step: Step<B>): Step<B> => ({ ...step, isKept: true });

type MethodOf<B> = B extends (tx: Tx, ...args: infer A) => infer R ? (...args: A) => R : never;

/** The methods of a store. */
export type Opened<S extends Steps> = {
  readonly [K in keyof S]: S[K] extends Step<infer B> ? MethodOf<B> : never;
};

/** `name`: store and step, for example "islands.save". */
export type RunStep = (name: string, step: Step, args: readonly unknown[]) => Promise<unknown>;

export function openStore<S extends Steps>(store: string, steps: S, run: RunStep): Opened<S> {
  const methods = Object.entries(steps).map(([key, step]) => {
    const name = `${store}.${key}`;
    return [key, (...args: unknown[]) => run(name, step, args)];
  });
  return Object.fromEntries(methods) as Opened<S>;
}

/** TypeScript has checked the arguments in the method. */
export function runBody({ body }: Step, tx: Tx, args: readonly unknown[]): Promise<unknown> {
  return (body as (tx: Tx, ...args: readonly unknown[]) => Promise<unknown>)(tx, ...args);
}
