import type { Route } from "./router.tsx";

/** Page at `/` for visitors without a session. */
export const FRONT: Route = {
  path: "/",
  title: "The network",
  area: "entry",
  load: async () => (await import("../pages/entry/front.tsx")).FrontPage,
};

/** All pages. The coordinator serves the console at the same first path segments (`front-door.ts`). */
export const ROUTES: readonly Route[] = [
  {
    path: "/sign-in",
    title: "Sign in",
    area: "entry",
    load: async () => (await import("../pages/entry/sign-in.tsx")).SignInPage,
  },
  {
    path: "/register",
    title: "Open an account",
    area: "entry",
    load: async () => (await import("../pages/entry/register.tsx")).RegisterPage,
  },
  {
    path: "/verify",
    title: "Open an account",
    area: "entry",
    load: async () => (await import("../pages/entry/verify.tsx")).VerifyPage,
  },
  {
    path: "/forgot-password",
    title: "New password",
    area: "entry",
    load: async () => (await import("../pages/entry/forgot-password.tsx")).ForgotPasswordPage,
  },
  {
    path: "/reset-password",
    title: "New password",
    area: "entry",
    load: async () => (await import("../pages/entry/reset-password.tsx")).ResetPasswordPage,
  },
  {
    path: "/",
    title: "Playground",
    area: "client",
    load: async () => (await import("../pages/client/playground/playground.tsx")).PlaygroundPage,
  },
  {
    path: "/playground",
    title: "Playground",
    area: "client",
    load: async () => (await import("../pages/client/playground/playground.tsx")).PlaygroundPage,
  },
  {
    path: "/jobs",
    title: "Jobs",
    area: "client",
    load: async () => (await import("../pages/client/jobs/jobs.tsx")).JobsPage,
  },
  {
    path: "/jobs/:id",
    title: "Job",
    area: "client",
    load: async () => (await import("../pages/client/jobs/job.tsx")).JobPage,
  },
  {
    path: "/batches",
    title: "Batches",
    area: "client",
    load: async () => (await import("../pages/client/batches/batches.tsx")).BatchesPage,
  },
  {
    path: "/batches/:id",
    title: "Batch",
    area: "client",
    load: async () => (await import("../pages/client/batches/batch.tsx")).BatchPage,
  },
  {
    path: "/conversations",
    title: "Conversations",
    area: "client",
    load: async () => (await import("../pages/client/conversations/conversations.tsx")).ConversationsPage,
  },
  {
    path: "/conversations/:id",
    title: "Conversation",
    area: "client",
    load: async () => (await import("../pages/client/conversations/conversation.tsx")).ConversationPage,
  },
  {
    path: "/catalog",
    title: "Catalog",
    area: "client",
    load: async () => (await import("../pages/client/catalog/catalog.tsx")).CatalogPage,
  },
  {
    path: "/catalog/:slug",
    title: "Cargo",
    area: "client",
    load: async () => (await import("../pages/client/catalog/cargo.tsx")).CargoPage,
  },
  {
    path: "/keys",
    title: "API keys",
    area: "client",
    load: async () => (await import("../pages/client/keys/keys.tsx")).KeysPage,
  },
  {
    path: "/usage",
    title: "Usage",
    area: "client",
    load: async () => (await import("../pages/client/usage/usage.tsx")).UsagePage,
  },
  {
    path: "/account",
    title: "Account",
    area: "client",
    load: async () => (await import("../pages/client/account/account.tsx")).AccountPage,
  },
  {
    path: "/islands",
    title: "My Islands",
    area: "host",
    load: async () => (await import("../pages/host/islands.tsx")).IslandsPage,
  },
  {
    path: "/islands/add",
    title: "Add an Island",
    area: "host",
    load: async () => (await import("../pages/host/add-island.tsx")).AddIslandPage,
  },
  {
    path: "/islands/:id",
    title: "Island",
    area: "host",
    load: async () => (await import("../pages/host/island.tsx")).IslandPage,
  },
  {
    path: "/operator",
    title: "Network",
    area: "operator",
    load: async () => (await import("../pages/operator/overview.tsx")).OverviewPage,
  },
  {
    path: "/operator/islands",
    title: "Islands",
    area: "operator",
    load: async () => (await import("../pages/operator/network-islands.tsx")).NetworkIslandsPage,
  },
  {
    path: "/operator/standings",
    title: "Standings",
    area: "operator",
    load: async () => (await import("../pages/operator/standings.tsx")).StandingsPage,
  },
  {
    path: "/operator/accounts",
    title: "Accounts",
    area: "operator",
    load: async () => (await import("../pages/operator/accounts.tsx")).AccountsPage,
  },
  {
    path: "/operator/accounts/:id",
    title: "Account",
    area: "operator",
    load: async () => (await import("../pages/operator/known-account.tsx")).KnownAccountPage,
  },
  {
    path: "/operator/jobs",
    title: "Jobs",
    area: "operator",
    load: async () => (await import("../pages/operator/network-jobs.tsx")).NetworkJobsPage,
  },
  {
    path: "/operator/queue",
    title: "Queue",
    area: "operator",
    load: async () => (await import("../pages/operator/queue.tsx")).QueuePage,
  },
  {
    path: "/operator/cargos",
    title: "Cargo approvals",
    area: "operator",
    load: async () => (await import("../pages/operator/cargos.tsx")).NetworkCargosPage,
  },
  {
    path: "/operator/cargos/:slug",
    title: "Cargo",
    area: "operator",
    load: async () => (await import("../pages/operator/review.tsx")).ReviewPage,
  },
  {
    path: "/operator/audit",
    title: "Audit log",
    area: "operator",
    load: async () => (await import("../pages/operator/audit.tsx")).AuditPage,
  },
  {
    path: "/operator/settings",
    title: "Settings",
    area: "operator",
    load: async () => (await import("../pages/operator/settings.tsx")).SettingsPage,
  },
];
