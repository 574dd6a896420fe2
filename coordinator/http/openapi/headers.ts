import type { HttpApp } from "../http-deps.ts";

/** References to headers of an answer, by name. */
export type HeaderRefs = Record<string, { $ref: string }>;

interface HeaderFacts {
  readonly component: string;
  readonly type: "string" | "integer";
  readonly description: string;
}

const HEADERS = {
  "X-Request-Id": {
    component: "RequestId",
    type: "string",
    description: "Of this request, as in the log; the caller's own where it sent a harmless one",
  },
  "X-RateLimit-Limit": {
    component: "RateLimit",
    type: "integer",
    description: "Requests that the key or session may send in a minute",
  },
  "X-RateLimit-Remaining": {
    component: "RateLimitRemaining",
    type: "integer",
    description: "How many of them are left now",
  },
  "X-RateLimit-Reset": {
    component: "RateLimitReset",
    type: "integer",
    description: "Unix time in seconds at which the oldest request counted gives its place back",
  },
  "Retry-After": {
    component: "RetryAfter",
    type: "integer",
    description: "Seconds until another try is worth it",
  },
  "WWW-Authenticate": { component: "Authenticate", type: "string", description: "How to sign in: Bearer" },
} as const satisfies Record<string, HeaderFacts>;
type HeaderName = keyof typeof HEADERS;

const RATE: readonly HeaderName[] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/** Headers that are always there. `isKnown`: the answer is to a key or session, whose requests are counted. */
export function headersOf(isKnown: boolean): HeaderRefs {
  return refs(["X-Request-Id", ...(isKnown ? RATE : [])], "");
}

/** Headers of a refusal, which may have come before the caller was known. */
export function failureHeaders(always: readonly HeaderName[], maybe: readonly HeaderName[]): HeaderRefs {
  return { ...refs(["X-Request-Id", ...always], ""), ...refs([...maybe, ...RATE], "IfKnown") };
}

/** Puts what the references stand for among the document's components. */
export function registerHeaders(registry: HttpApp["openAPIRegistry"]): void {
  for (const { component, type, description } of Object.values(HEADERS)) {
    const schema = { type, ...(type === "integer" ? { minimum: 0 } : {}) };
    registry.registerComponent("headers", component, { description, required: true, schema });
    registry.registerComponent("headers", `${component}IfKnown`, { description, schema });
  }
}

function refs(names: readonly HeaderName[], suffix: string): HeaderRefs {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${HEADERS[name].component}${suffix}` }]),
  );
}
