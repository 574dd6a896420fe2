import type { Store } from "../../../coordinator/store/store.ts";

type Replaceable = "batches" | "cluster" | "jobs";

/** Returns a store in which some methods are replaced, for example to delay a result. */
export function withReplaced<S extends Store>(
  real: S,
  replaced: { readonly [K in Replaceable]?: Partial<Store[K]> },
): S {
  return overlay(
    real,
    Object.fromEntries(
      Object.entries(replaced).map(([key, methods]) => [key, overlay(real[key as Replaceable], methods)]),
    ),
  );
}

function overlay<T extends object>(real: T, replaced: object): T {
  return new Proxy(real, {
    get: (target, key) => (key in replaced ? Reflect.get(replaced, key) : boundTo(target, key)),
  });
}

function boundTo(target: object, key: string | symbol): unknown {
  const value = Reflect.get(target, key) as unknown;
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}
