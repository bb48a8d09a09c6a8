// SPDX-License-Identifier: Apache-2.0
// An image to start from, and the mask painted over it.

const most = 30; // Strokes that can be undone.

async function decoded(source) {
  const url = typeof source === 'string' ? source : URL.createObjectURL(source);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } finally {
    if (url !== source) URL.revokeObjectURL(url);
  }
  return image;
}

export class MaskEditor {
  constructor(canvas, brush, ring) {
    this.canvas = canvas;
    this.brush = brush;
    this.ring = ring;
    this.image = null;
    this.paint = document.createElement('canvas');
    this.before = [];
    this.cursor = null;
    this.hovered = null;
    this.listen();
  }

  // Shows an image, from a Blob or data URL, and perhaps a mask from a data URL.
  async show(source, mask) {
    const image = await decoded(source);
    const painted = mask ? await decoded(mask) : null;
    this.image = image;
    for (const c of [this.canvas, this.paint]) {
      c.width = image.naturalWidth;
      c.height = image.naturalHeight;
    }
    if (painted) this.take(painted);
    this.before = [];
    this.cursor = {x: this.canvas.width / 2, y: this.canvas.height / 2};
    this.hovered = null;
    this.draw();
  }

  // Paints where a mask is white.
  take(mask) {
    const context = this.paint.getContext('2d');
    context.drawImage(mask, 0, 0, this.paint.width, this.paint.height);
    const pixels = context.getImageData(0, 0, this.paint.width, this.paint.height);
    for (let i = 0; i < pixels.data.length; i += 4) {
      pixels.data[i + 3] = pixels.data[i] > 127 ? 255 : 0;
      pixels.data.fill(255, i, i + 3);
    }
    context.putImageData(pixels, 0, 0);
  }

  drop() {
    this.image = null;
  }

  // The image as a PNG data URL; null where there is none.
  imageUrl() {
    if (!this.image) return null;
    const c = document.createElement('canvas');
    c.width = this.canvas.width;
    c.height = this.canvas.height;
    c.getContext('2d').drawImage(this.image, 0, 0);
    return c.toDataURL('image/png');
  }

  // White where painted, black elsewhere; null where nothing is painted.
  maskUrl() {
    if (!this.image) return null;
    const context = this.paint.getContext('2d');
    const pixels = context.getImageData(0, 0, this.paint.width, this.paint.height);
    let any = false;
    for (let i = 0; i < pixels.data.length; i += 4) {
      const on = pixels.data[i + 3] > 127;
      any = any || on;
      pixels.data[i] = pixels.data[i + 1] = pixels.data[i + 2] = on ? 255 : 0;
      pixels.data[i + 3] = 255;
    }
    if (!any) return null;
    const c = document.createElement('canvas');
    c.width = this.paint.width;
    c.height = this.paint.height;
    c.getContext('2d').putImageData(pixels, 0, 0);
    return c.toDataURL('image/png');
  }

  undo() {
    const last = this.before.pop();
    if (last) this.paint.getContext('2d').putImageData(last, 0, 0);
    this.draw();
  }

  clear() {
    this.remember();
    this.paint.getContext('2d').clearRect(0, 0, this.paint.width, this.paint.height);
    this.draw();
  }

  invert() {
    this.remember();
    const context = this.paint.getContext('2d');
    context.globalCompositeOperation = 'xor';
    context.fillStyle = '#fff';
    context.fillRect(0, 0, this.paint.width, this.paint.height);
    context.globalCompositeOperation = 'source-over';
    this.draw();
  }

  remember() {
    const context = this.paint.getContext('2d');
    this.before.push(
      context.getImageData(0, 0, this.paint.width, this.paint.height));
    if (this.before.length > most) this.before.shift();
  }

  stroke(from, to, erase) {
    const context = this.paint.getContext('2d');
    context.globalCompositeOperation = erase ? 'destination-out' : 'source-over';
    context.strokeStyle = '#fff';
    context.lineCap = 'round';
    context.lineWidth = this.width();
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x + 0.01, to.y);
    context.stroke();
    context.globalCompositeOperation = 'source-over';
    this.draw();
  }

  // In pixels of the image: the brush is a share of its shorter side.
  width() {
    const side = Math.min(this.canvas.width, this.canvas.height);
    return Math.max(1, Number(this.brush.value) / 100 * side);
  }

  draw() {
    if (!this.image) return;
    const context = this.canvas.getContext('2d');
    context.drawImage(this.image, 0, 0);
    const tint = document.createElement('canvas');
    tint.width = this.paint.width;
    tint.height = this.paint.height;
    const over = tint.getContext('2d');
    over.drawImage(this.paint, 0, 0);
    over.globalCompositeOperation = 'source-in';
    over.fillStyle = getComputedStyle(document.body).getPropertyValue('--mark');
    over.fillRect(0, 0, tint.width, tint.height);
    context.drawImage(tint, 0, 0);
    this.showRing();
  }

  // Puts the edge of the brush where the pointer is, or else the keyboard.
  showRing() {
    const focused = document.activeElement === this.canvas ? this.cursor : null;
    const center = this.image && (this.hovered ?? focused);
    this.ring.hidden = !center;
    if (!center) return;
    const shown = this.canvas.clientWidth / this.canvas.width;
    const side = Math.max(2, this.width() * shown);
    Object.assign(this.ring.style, {width: `${side}px`, height: `${side}px`,
      left: `${center.x * shown - side / 2}px`, top: `${center.y * shown - side / 2}px`});
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: (event.clientX - box.left) / box.width * this.canvas.width,
      y: (event.clientY - box.top) / box.height * this.canvas.height,
    };
  }

  listen() {
    let last = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      if (!this.image) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.remember();
      last = this.place(event);
      this.stroke(last, last, event.shiftKey);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (!this.image) return;
      this.hovered = this.place(event);
      if (!last) return this.showRing();
      this.stroke(last, this.hovered, event.shiftKey);
      last = this.hovered;
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.hovered = null;
      this.showRing();
    });
    this.brush.addEventListener('input', () => this.showRing());
    for (const name of ['pointerup', 'pointercancel'])
      this.canvas.addEventListener(name, () => { last = null; });
    this.canvas.addEventListener('keydown', (event) => this.typed(event));
    for (const name of ['focus', 'blur'])
      this.canvas.addEventListener(name, () => this.showRing());
  }

  typed(event) {
    const step = this.width() / 2;
    const moves = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0],
      ArrowUp: [0, -step], ArrowDown: [0, step],
    };
    if (!this.image) return;
    this.hovered = null;
    if (event.key in moves) {
      const [x, y] = moves[event.key];
      this.cursor.x = Math.min(this.canvas.width, Math.max(0, this.cursor.x + x));
      this.cursor.y = Math.min(this.canvas.height, Math.max(0, this.cursor.y + y));
      this.draw();
    } else if (event.key === ' ' || event.key === 'Backspace') {
      this.remember();
      this.stroke(this.cursor, this.cursor, event.key === 'Backspace');
    } else if (event.key === 'z' && (event.ctrlKey || event.metaKey)) {
      this.undo();
    } else {
      return;
    }
    event.preventDefault();
  }
}
