import type { ComponentChildren } from "preact";
import { Link } from "../app/router.tsx";

export function PageHead({
  title,
  back,
  children,
  note,
}: {
  readonly title: ComponentChildren;
  readonly back?: { readonly to: string; readonly label: string };
  readonly note?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div class="page-head-text">
        {back !== undefined && (
          <Link to={back.to} class="back">
            ← {back.label}
          </Link>
        )}
        <h1>{title}</h1>
        {note !== undefined && <p class="muted">{note}</p>}
      </div>
      {children !== undefined && <div class="page-actions">{children}</div>}
    </div>
  );
}

/** A labelled value in a `dl`. */
export function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
