import { GLOBAL_IPV6, PRIVATE_IPV4, PRIVATE_IPV6 } from "../../../shared/net/private-address.ts";

/**
 * Returns nftables rules that limit containers behind a bridge to the public internet. They block private, shared,
 * link-local (with cloud metadata), loopback, multicast and reserved addresses, and all addresses of this host. One
 * transaction replaces earlier rules of the same name. A verdict `drop` is final, whatever rules an engine or a
 * firewall of the owner adds.
 * @param bridge name of the interface and of the table: [a-z0-9], at most 15.
 */
export function egressRules(bridge: string): string {
  const from = `iifname "${bridge}"`;
  const isPrivate = [
    `${from} ip daddr { ${PRIVATE_IPV4.join(", ")} } drop`,
    // This range of public addresses excludes mapped, translated, unique local, link-local and multicast addresses.
    `${from} ip6 daddr != ${GLOBAL_IPV6} drop`,
    `${from} ip6 daddr { ${PRIVATE_IPV6.join(", ")} } drop`,
  ];
  return [
    ...replaced(bridge),
    `table inet ${bridge} {`,
    // This chain runs before addresses are rewritten, so a port of this host that is forwarded elsewhere counts as this
    // host's.
    ...chain("arriving", "prerouting priority -300", [`${from} fib daddr type != unicast drop`, ...isPrivate]),
    // This chain runs after addresses are rewritten, possibly to private ones.
    ...chain("passing", "forward priority -5", [
      ...isPrivate,
      `oifname "${bridge}" ct state established,related accept`,
      `oifname "${bridge}" drop`,
    ]),
    ...chain("staying", "input priority -5", [`${from} drop`]),
    "}",
    "",
  ].join("\n");
}

/** Returns rules that remove those of {@link egressRules}. */
export function noEgressRules(bridge: string): string {
  return [...replaced(bridge), ""].join("\n");
}

/** Adding the table first makes its removal succeed in either case. */
function replaced(bridge: string): string[] {
  return [`add table inet ${bridge}`, `delete table inet ${bridge}`];
}

function chain(name: string, hook: string, rules: readonly string[]): string[] {
  return [
    `  chain ${name} {`,
    `    type filter hook ${hook}; policy accept;`,
    ...rules.map((rule) => `    ${rule}`),
    "  }",
  ];
}
