import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { AgentConfig } from "./resolve-agent-config.ts";

/**
 * Returns the policy that the settings define.
 * @param hasNetwork whether containers can have a network here that reaches no private address.
 */
export function policyOf(
  { containers, cargos }: Pick<AgentConfig, "containers" | "cargos">,
  hasNetwork: boolean,
): OwnerPolicy {
  const lists = (allow: readonly string[] | null, deny: readonly string[] | null) => ({
    allow: allow === null ? null : [...allow],
    deny: [...(deny ?? [])],
  });
  return {
    network: containers.network && hasNetwork,
    containerGpu: containers.gpu,
    runtimes: lists(cargos.allowRuntimes, cargos.denyRuntimes),
    categories: lists(cargos.allowCategories, cargos.denyCategories),
    approvedOnly: cargos.signedBy !== null,
  };
}

/** Describes the policy for its owner, one text per rule. */
export function describePolicy(policy: OwnerPolicy): string[] {
  const { network, containerGpu, runtimes, categories, approvedOnly } = policy;
  const lists = (name: string, { allow, deny }: OwnerPolicy["runtimes"]): string[] => [
    ...(allow === null ? [] : [`only the ${name} ${allow.join(", ")}`]),
    ...(deny.length === 0 ? [] : [`not the ${name} ${deny.join(", ")}`]),
  ];
  return [
    `containers ${network ? "with" : "without"} a network`,
    ...(containerGpu ? [] : ["no GPU in containers"]),
    ...lists("runtimes", runtimes),
    ...lists("categories", categories),
    ...(approvedOnly ? ["only Cargos signed by the keys of cargos.signed_by"] : []),
  ];
}
