import { z } from "zod";
import type { CargoManifest } from "./cargo.ts";

/**
 * Names that are allowed and denied. `allow` null: everything that is not denied. Names are plain strings, so that
 * those of a later version stay as they are.
 */
const listsSchema = z.object({
  allow: z.array(z.string().max(50)).max(50).nullable(),
  deny: z.array(z.string().max(50)).max(50),
});
type Lists = z.infer<typeof listsSchema>;

/**
 * Permissions that the owner of an Island gives Cargos. Sent in `hello`, so that no job is sent that the Island would
 * refuse; the Island enforces them.
 */
export const ownerPolicySchema = z.object({
  /** Whether containers may use a network. False also if this host cannot keep them off private addresses. */
  network: z.boolean(),
  containerGpu: z.boolean(),
  runtimes: listsSchema,
  categories: listsSchema,
  /** Whether only Cargos that are signed for every Island may run, not an account's own. */
  approvedOnly: z.boolean(),
});
export type OwnerPolicy = z.infer<typeof ownerPolicySchema>;

/** Reasons for which an owner can refuse a Cargo, in the order of the checks. */
export const DISALLOWED = [
  "runtime_disallowed",
  "category_disallowed",
  "network_disallowed",
  "gpu_disallowed",
  "unapproved_disallowed",
] as const;
export type Disallowed = (typeof DISALLOWED)[number];

type PolicyFacts = Pick<CargoManifest, "runtimeType" | "category" | "container">;

/**
 * Returns the first reason why the owner does not allow a Cargo; null if it is allowed.
 * @param isApproved whether it is signed for every Island
 */
export function disallowedBy(policy: OwnerPolicy, cargo: PolicyFacts, isApproved: boolean): Disallowed | null {
  if (!isAllowed(policy.runtimes, cargo.runtimeType)) return "runtime_disallowed";
  if (!isAllowed(policy.categories, cargo.category)) return "category_disallowed";
  if (cargo.container?.network === true && !policy.network) return "network_disallowed";
  if (cargo.container?.gpu === true && !policy.containerGpu) return "gpu_disallowed";
  return policy.approvedOnly && !isApproved ? "unapproved_disallowed" : null;
}

/** Completes "the owner does not allow …". */
export function describeDisallowed(what: Disallowed, { runtimeType, category }: PolicyFacts): string {
  switch (what) {
    case "runtime_disallowed":
      return `the runtime ${runtimeType}`;
    case "category_disallowed":
      return category === undefined ? "Cargos that state no category" : `Cargos of the category ${category}`;
    case "network_disallowed":
      return "containers with a network";
    case "gpu_disallowed":
      return "containers with a GPU";
    case "unapproved_disallowed":
      return "Cargos that are not approved";
    default:
      return what satisfies never;
  }
}

/**
 * Returns whether a name is allowed. An undefined name is refused if the owner has a rule: a coordinator of an earlier
 * version sends no category.
 */
export function isAllowed({ allow, deny }: Lists, name: string | undefined): boolean {
  if (allow === null && deny.length === 0) return true;
  return name !== undefined && !deny.includes(name) && (allow === null || allow.includes(name));
}
