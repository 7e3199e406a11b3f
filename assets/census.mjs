// How many boards there are at each distance, as `rotation-game census` counts them.

export const BOARDS = [
  38_610, 308_880, 1_698_840, 8_030_880, 33_820_248, 124_134_840, 400_278_348, 1_098_954_804,
  2_316_756_348, 3_172_593_156, 1_992_066_648, 312_776_400, 4_053_576, 192,
];

const TOTAL = BOARDS.reduce((sum, count) => sum + count, 0);

/** Which share of all boards is at a distance: "33.5 %", or where that is little "one in 30,645". */
export function shareAt(distance) {
  const share = BOARDS[distance] / TOTAL;
  if (share >= 0.0001) return `${Number((share * 100).toPrecision(3))} %`;
  return `one in ${Math.round(1 / share).toLocaleString('en')}`;
}
