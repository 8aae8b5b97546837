// The code is taken from the address at once, so that no history and no copied link holds it.
const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

const told = document.getElementById("told");

async function login() {
  told.textContent = "Logging in …";
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Acud": "1" },
      body: JSON.stringify({ code }),
    });
    if (answer.ok) {
      location.replace("/dashboard");
      return;
    }
    const body = await answer.json();
    told.textContent = body.hint ? `${body.error}: ${body.hint}` : body.error;
  } catch {
    told.textContent = "The server does not answer: is acud running?";
  }
}

if (code) login();
