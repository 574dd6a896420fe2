import type { ComponentChildren } from "preact";
import { isDown } from "../../app/connection.ts";
import { Link } from "../../app/router.tsx";
import { Mark } from "../../app/shell.tsx";

/** Frame of the pages that need no session. */
export function EntryCard({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <main class="entry">
      <div class="entry-card">
        <Link to="/" class="brand">
          <Mark /> Atoll
        </Link>
        <p class="muted">A network of machines that run AI models and small programs for each other.</p>
        <h1>{title}</h1>
        {isDown.value && (
          <div class="banner warning" role="alert">
            The coordinator is not responding. This page reconnects automatically.
          </div>
        )}
        {children}
      </div>
      <p class="entry-foot">
        <a href="docs">API reference</a>
      </p>
    </main>
  );
}
