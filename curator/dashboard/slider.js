// A slider over two pictures, with marks for what changed and what moved. It imports nothing: a film strip that is saved
// as a file has it too.

// slider shows two pictures on top of each other. before and after have an address and a text. marks, if there are any,
// have the size of the later picture and its areas that are new or moved, in pixels.
export function slider(before, after, marks) {
  const make = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };
  const picture = (p, kind) => make('img', { src: p.src, alt: p.alt, class: kind, draggable: 'false' });
  const old = picture(before, 'old');
  const range = make('input', { type: 'range', min: '0', max: '100', step: '1', value: '50', 'aria-label': `From ${before.alt} to ${after.alt}` });
  const line = make('div', { class: 'line', 'aria-hidden': 'true' });
  const shown = make('div', { class: 'marks', 'aria-hidden': 'true' });
  for (const a of marks?.areas || []) {
    const mark = make('div', { class: a.kind });
    mark.style.left = (100 * a.x) / marks.width + '%';
    mark.style.width = (100 * a.width) / marks.width + '%';
    mark.style.top = (100 * a.y) / marks.height + '%';
    mark.style.height = (100 * a.height) / marks.height + '%';
    if (a.by && a.height > 60 && a.width > marks.width / 4) mark.append(make('span', {}, `${a.by > 0 ? '↓' : '↑'} ${Math.abs(a.by)}`));
    shown.append(mark);
  }
  const overlay = make('div', { class: 'overlay' }, shown);
  const stage = make('div', { class: 'stage' }, picture(after, 'new'), overlay, old, line);
  const draw = () => {
    const at = Number(range.value);
    old.style.clipPath = `inset(0 ${100 - at}% 0 0)`;
    line.style.left = at + '%';
  };
  range.addEventListener('input', draw);
  const drag = (event) => {
    if (!(event.buttons & 1)) return;
    const box = stage.getBoundingClientRect();
    range.value = String(Math.round((100 * (event.clientX - box.left)) / box.width));
    draw();
  };
  stage.addEventListener('pointerdown', drag);
  stage.addEventListener('pointermove', drag);
  draw();
  return make('div', { class: 'slider' }, make('div', { class: 'handle' }, make('span', {}, before.says), range, make('span', {}, after.says)), stage);
}
