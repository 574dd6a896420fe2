import { Link } from "./router.tsx";

export function NotFoundPage() {
  return (
    <section class="state">
      <h1>Page not found</h1>
      <p>
        Check the address. Some pages are only for operators. Go to <Link to="/">the playground</Link> or to{" "}
        <a href="docs">the API reference</a>.
      </p>
    </section>
  );
}
