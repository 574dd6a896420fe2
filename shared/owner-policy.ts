import { z } from "zod";
import type { CargoManifest } from "./cargo.ts";

/**
 * Names that are allowed and denied. If `allow` is null, everything that is not denied is allowed. Names are plain
 * strings, so that names of a later version are kept unchanged.
 */
const listsSchema = z.object({
  allow: z.array(z.string().max(50)).max(50).nullable(),
  deny: z.array(z.string().max(50)).max(50),
});
type Lists = z.infer<typeof listsSchema>;

/**
 * Permissions that the owner of an Island gives to Cargos. They are sent in `hello`, so that the coordinator does not
 * send jobs that the Island would refuse. The Island enforces them.
 */
export const ownerPolicySchema = z.object({
  /** Whether containers may use a network. Also false if this host cannot keep containers off private addresses. */
  network: z.boolean(),
  containerGpu: z.boolean(),
  runtimes: listsSchema,
  categories: listsSchema,
  /** Whether only Cargos that are signed for all Islands may run, and no Cargos of a single account. */
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
 * @param isApproved whether the Cargo is signed for all Islands
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
      return category === undefined ? "Cargos without a category" : `Cargos of the category ${category}`;
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
