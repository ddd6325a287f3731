// Opens the pictures of a film strip that was saved as a file. It follows slider.js.
const pictures = [...document.querySelectorAll('.film img')];
const large = document.getElementById('large');
const nameOf = (img) => img.dataset.says;

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

function open(i, with_) {
  const img = pictures[i];
  const strip = pictures.filter((p) => p.dataset.page === img.dataset.page);
  const before = with_ ?? strip[strip.indexOf(img) - 1];
  const heading = element('h2', { tabindex: '-1' }, nameOf(img));
  const step = (name, p) => {
    const b = element('button', { type: 'button' }, name);
    if (p) b.addEventListener('click', () => open(pictures.indexOf(p)));
    else b.disabled = true;
    return b;
  };
  const choice = element('select', {}, element('option', { value: '-1' }, 'nothing'), ...pictures.map((p, n) => element('option', { value: String(n) }, nameOf(p))));
  choice.value = before ? String(pictures.indexOf(before)) : '-1';
  choice.addEventListener('change', () => open(i, pictures[Number(choice.value)] || false));
  const at = strip.indexOf(img);
  const shown = before
    ? slider({ src: before.src, alt: before.alt, says: nameOf(before) }, { src: img.src, alt: img.alt, says: nameOf(img) }, null)
    : element('div', { class: 'slider' }, element('div', { class: 'stage' }, element('img', { src: img.src, alt: img.alt })));
  large.replaceChildren(heading, element('div', { class: 'row' }, step('Earlier picture', strip[at - 1]), step('Later picture', strip[at + 1]), element('label', {}, 'Compare with', choice)), shown);
  large.hidden = false;
  heading.focus({ preventScroll: true });
  large.scrollIntoView();
}

pictures.forEach((img, i) =>
  img.closest('a').addEventListener('click', (event) => {
    event.preventDefault();
    open(i);
  }),
);
for (const film of document.querySelectorAll('.film'))
  film.addEventListener('keydown', (event) => {
    const here = document.activeElement.closest('li');
    const to = { ArrowLeft: here?.previousElementSibling, ArrowRight: here ? here.nextElementSibling : film.firstElementChild }[event.key];
    if (!to) return;
    event.preventDefault();
    to.querySelector('a').focus();
  });
