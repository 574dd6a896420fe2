import { render } from "preact";
import { App } from "./app/app.tsx";
import { findSession } from "./app/session.ts";
import { applyTheme, theme } from "./app/theme.ts";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/data.css";
import "./styles/pages.css";

applyTheme(theme.value);
const root = document.getElementById("app");
if (root === null) throw new Error("The page has no element #app");
render(<App />, root);
void findSession();
