import type { JobStore } from "../../../coordinator/store/jobs/jobs.ts";
import type { Store } from "../../../coordinator/store/store.ts";

/** A store some of whose job methods a test replaces, for example to hold back an answer. */
export function withJobStore<S extends Store>(real: S, replaced: Partial<JobStore>): S {
  const jobs = new Proxy(real.jobs, {
    get: (target, key) => (key in replaced ? Reflect.get(replaced, key) : boundTo(target, key)),
  });
  return new Proxy(real, { get: (target, key) => (key === "jobs" ? jobs : boundTo(target, key)) });
}

function boundTo(target: object, key: string | symbol): unknown {
  const value = Reflect.get(target, key) as unknown;
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}
