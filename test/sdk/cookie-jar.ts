/** `fetch` with the one cookie of a page, as a browser has it for the page's own origin. */
export function fetchWithCookie(): { readonly fetch: typeof globalThis.fetch; readonly cookie: () => string } {
  let cookie = "";
  return {
    cookie: () => cookie,
    fetch: async (input, init) => {
      if (init?.credentials !== "same-origin") throw new Error("The request leaves the cookie out");
      const headers = { ...(init.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) };
      const response = await globalThis.fetch(input, { ...init, headers });
      for (const set of response.headers.getSetCookie()) cookie = /^[^=;]+=[^;]+/.exec(set)?.[0] ?? "";
      return response;
    },
  };
}
