import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatBalance } from "../components/numbers.ts";
import { api } from "./api.ts";
import { ApprovalCount } from "./approvals.tsx";
import { isDown } from "./connection.ts";
import { currentItem, NAVIGATION } from "./navigation.ts";
import { useResource } from "./resource.ts";
import { Link, path } from "./router.tsx";
import { account, isOperator, signOut } from "./session.ts";
import { applyTheme, theme, type Theme } from "./theme.ts";

/** Frame of every page: navigation, balance and connection state. */
export function Shell({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path.value);
  const at = path.value;
  useEffect(() => {
    setOpen(false);
    // Moves the focus so that screen readers announce the new page. The browser announces the first one.
    if (shown.current !== at) main.current?.focus({ preventScroll: true });
    shown.current = at;
  }, [at]);
  return (
    <div class="shell">
      <a
        class="skip"
        href={`${location.pathname}#main`}
        onClick={(event) => (event.preventDefault(), main.current?.focus())}
      >
        Skip to content
      </a>
      <header class="top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <MenuIcon />
          <span class="hidden">Menu</span>
        </button>
        <Link to="/" class="brand" aria-label="Atoll: go to the playground">
          <Mark />
          Atoll
        </Link>
        <span class="top-title">{title}</span>
        <Balance />
      </header>
      <nav id="navigation" class={isOpen ? "side open" : "side"} aria-label="Pages">
        <Navigation />
        <Footer />
      </nav>
      <main id="main" class="main" tabIndex={-1} ref={main}>
        {isDown.value && (
          <div class="banner warning" role="alert">
            The coordinator is not responding. This page may be out of date; it reconnects automatically.
          </div>
        )}
        <Announcements />
        {children}
      </main>
    </div>
  );
}

/** Announcements of the operators, at the top of every page. */
export function Announcements() {
  const { value = [] } = useResource((signal) => api().announcements({ signal }), []);
  return (
    <>
      {value.map(({ id, level, text }) => (
        <div key={id} class={level === "info" ? "banner" : "banner warning"} role="status">
          {text}
        </div>
      ))}
    </>
  );
}

function Navigation() {
  const current = currentItem(path.value);
  return (
    <>
      {NAVIGATION.filter(({ area, items }) => items.length > 0 && (area !== "operator" || isOperator.value)).map(
        (group) => (
          <section key={group.label}>
            <h2 id={`nav-${group.area}`}>{group.label}</h2>
            <ul aria-labelledby={`nav-${group.area}`}>
              {group.items.map(({ to, label }) => (
                <li key={to}>
                  <Link to={to} aria-current={to === current ? "page" : undefined}>
                    {label}
                    {to === "/operator/cargos" && <ApprovalCount />}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ),
      )}
    </>
  );
}

function Footer() {
  const [error, setError] = useState<string | null>(null);
  const leave = (): void => {
    signOut().catch(() => setError("Could not sign you out: the coordinator is not responding. Try again."));
  };
  return (
    <section class="side-foot">
      <ul>
        <li>
          <Link to="/account" aria-current={path.value === "/account" ? "page" : undefined} class="ellipsis">
            {account.value?.email ?? "Account"}
          </Link>
        </li>
        <li>
          <a href="docs">API reference</a>
        </li>
        <li>
          <button type="button" class="link-button" onClick={leave}>
            Sign out
          </button>
        </li>
      </ul>
      {error !== null && <p role="alert">{error}</p>}
      <label class="theme">
        <span>Theme</span>
        <select value={theme.value} onChange={(event) => applyTheme(event.currentTarget.value as Theme)}>
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
    </section>
  );
}

function Balance() {
  const { value } = account;
  if (value === null) return null;
  return (
    <Link to="/usage" class="balance" title="Your credit balance">
      <span class="num">{formatBalance(value.credits)}</span> <span class="muted">credits</span>
    </Link>
  );
}

/** Logo: a ring with an island outside it. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <path
        fill="none"
        stroke="currentColor"
        stroke-width="4.5"
        stroke-linecap="round"
        d="M25.5 10.5A11 11 0 1 0 27 16"
      />
      <circle cx="24.6" cy="8.4" r="2.8" fill="currentColor" />
    </svg>
  );
}

function MenuIcon() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d="M3 5h14M3 10h14M3 15h14" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />
    </svg>
  );
}
