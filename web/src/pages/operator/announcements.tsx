import type { Announcement } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useResource } from "../../app/resource.ts";
import { ActionError, useAction } from "../../components/action.tsx";
import { goneIsDone } from "../../components/error-message.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

/** Lists and publishes announcements, which all users see at the top of every page. */
export function Announcements() {
  const list = useResource((signal) => api().announcements({ signal }), []);
  const [published, setPublished] = useState(0);
  const form = useForm(async (values) => {
    await api().operator.announce({ level: values("level") as Announcement["level"], text: values("text").trim() });
    // Clear the field, so that the next Enter does not publish the text again.
    setPublished((count) => count + 1);
    list.reload();
  });
  const remove = useAction(async (id: string) => {
    await goneIsDone(api().operator.removeAnnouncement(id));
    list.reload();
  });
  return (
    <section class="panel" aria-labelledby="announcements-title">
      <h2 id="announcements-title">Announcements</h2>
      <Loaded of={list} what="the announcements">
        {(announcements) =>
          announcements.length === 0 ? (
            <p class="muted">No announcements.</p>
          ) : (
            <ul class="plain rows">
              {announcements.map(({ id, text, level, created_at }) => (
                <li key={id}>
                  <span>
                    {text}{" "}
                    <span class="muted">
                      {level}, <Ago at={created_at} />
                    </span>
                  </span>
                  <button
                    type="button"
                    class="button small"
                    disabled={remove.isBusy}
                    onClick={() => remove.run(id)}
                    aria-label={`Remove “${text}”`}
                  >
                    Remove
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <ActionError action={remove} />
      <form onSubmit={form.submit} noValidate>
        <Field label="New announcement" error={form.errorOf("text")}>
          {(props) => <input key={published} {...props} name="text" autocomplete="off" />}
        </Field>
        <Field label="Level" error={form.errorOf("level")}>
          {(props) => (
            <select {...props} name="level">
              <option value="info">info</option>
              <option value="warning">warning</option>
            </select>
          )}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button class="button" disabled={form.isBusy}>
            Announce
          </button>
        </div>
      </form>
    </section>
  );
}
