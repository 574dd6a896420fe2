import { Link } from "./router.tsx";

export function NotFoundPage() {
  return (
    <section class="state">
      <h1>There is no such page</h1>
      <p>
        The address may be mistyped, or the page needs another role. Go to <Link to="/">the playground</Link>, or read{" "}
        <a href="docs">the API</a>.
      </p>
    </section>
  );
}
