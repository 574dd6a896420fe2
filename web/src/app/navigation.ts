export interface NavigationItem {
  readonly to: string;
  readonly label: string;
}
export interface NavigationGroup {
  readonly label: string;
  readonly area: "client" | "host" | "operator";
  readonly items: readonly NavigationItem[];
}

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    label: "Use",
    area: "client",
    items: [
      { to: "/", label: "Playground" },
      { to: "/conversations", label: "Conversations" },
      { to: "/catalog", label: "Catalog" },
      { to: "/jobs", label: "Jobs" },
      { to: "/batches", label: "Batches" },
      { to: "/keys", label: "API keys" },
      { to: "/usage", label: "Usage" },
    ],
  },
  {
    label: "Host",
    area: "host",
    items: [
      { to: "/islands", label: "My Islands" },
      { to: "/islands/add", label: "Add an Island" },
    ],
  },
  {
    label: "Operate",
    area: "operator",
    items: [
      { to: "/operator", label: "Network" },
      { to: "/operator/islands", label: "Islands" },
      { to: "/operator/accounts", label: "Accounts" },
      { to: "/operator/standings", label: "Standings" },
      { to: "/operator/jobs", label: "Jobs" },
      { to: "/operator/queue", label: "Queue" },
      { to: "/operator/cargos", label: "Cargo approvals" },
      { to: "/operator/audit", label: "Audit log" },
      { to: "/operator/settings", label: "Settings" },
    ],
  },
];

/** Returns the path of the most specific menu item that leads to the page, or null. */
export function currentItem(path: string): string | null {
  const at = path === "/playground" ? "/" : path;
  const items = NAVIGATION.flatMap((group) => group.items.map(({ to }) => to));
  const leading = items.filter((to) => at === to || (to !== "/" && to !== "/operator" && at.startsWith(`${to}/`)));
  return leading.toSorted((a, b) => b.length - a.length)[0] ?? null;
}
