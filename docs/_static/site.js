// The page of all errors: a field that leaves the rows with the words typed.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector("#codes");
  if (!place) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "find";
  field.placeholder = "Find a code or a word: TC302, newaxis, macro ...";
  field.setAttribute("aria-label", "find an error");
  place.querySelector("h2").after(field);
  const rows = [...place.querySelectorAll("tbody tr")];
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    for (const part of place.querySelectorAll("section")) {
      part.hidden = words.length > 0 && ![...part.querySelectorAll("tbody tr")].some((row) => !row.hidden);
    }
  };
  field.addEventListener("input", filter);
});
