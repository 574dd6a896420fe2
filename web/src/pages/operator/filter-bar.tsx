import { navigate, path, query } from "../../app/router.tsx";

export const given = (text: string): string | undefined => (text === "" ? undefined : text);

/** Changes the query of the page's address. Empty values are removed. */
export function setQuery(change: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(change)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(path.value + (text === "" ? "" : `?${text}`), { replace: true });
}

/** Buttons for one of a few options, stored in the address. The first is the default. */
export function Choice({
  name,
  label,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
}) {
  const chosen = query.value.get(name) ?? options[0];
  return (
    <div class="segmented words" role="group" aria-label={label}>
      {options.map((option, index) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === chosen}
          onClick={() => setQuery({ [name]: index === 0 ? "" : option })}
        >
          {option}
        </button>
      ))}
    </div>
  );
}

export function Search({ label }: { readonly label: string }) {
  return (
    <>
      <label class="hidden" for="search">
        {label}
      </label>
      <input
        id="search"
        type="search"
        placeholder={label}
        defaultValue={query.value.get("q") ?? ""}
        onChange={(event) => setQuery({ q: event.currentTarget.value.trim() })}
      />
    </>
  );
}
