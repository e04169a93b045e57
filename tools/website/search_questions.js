// Appended to the search worker of the generator, which finds only sections with all words of the input. Readers ask whole questions, so
// this also looks for sections with most of the words. Words without a meaning of their own do not count. The best section of each page
// comes before further sections, because the first screen shows few results.
{
  const SHOWN = 20; // sections at most
  const TRIED = 40; // queries at most for one input
  const EMPTY = new Set(
    ("a about after all am an and any are as at be been but by can cannot could did do does doing don dont every for from get gets had has " +
      "have he how i if im in into is isn isnt it its just make makes me my no of off on or our out please s should so some still t than that " +
      "the their them then there these they this to up us using was way we were what when where which who why will with without would you your").split(" "),
  );
  const LAST = /(^|\/)(changelog|contributing|upstream)\.html/; // pages about the project itself come after all others

  const engine = self.onmessage;
  const post = self.postMessage.bind(self);
  let answers = [];
  let locations = []; // of sections, by their ids
  self.postMessage = (message) => (message.type === 3 ? answers.push(message) : post(message));

  /** The answer of the engine to one query. The engine writes into its query, so it gets a copy. */
  const ask = (event, input = event.data.data.input) => {
    answers = [];
    engine({ data: { type: event.data.type, data: { ...structuredClone(event.data.data), input } } });
    return answers[0];
  };

  /** The words of a question that have a meaning of their own, without endings, so that `restarted` also finds `restarts`. */
  const words = (input) =>
    [...new Set(input.toLowerCase().split(/[^\p{L}\p{N}._/-]+/u))]
      .map((word) => word.replace(/^[._/-]+|[._/-]+$/g, ""))
      .filter((word) => word && !EMPTY.has(word))
      .map((word) => (word.length > 5 ? word.replace(/(ing|ed|es|s)$/, "") : word))
      .slice(0, 8);

  /** All choices of `size` words, in the order of the words. */
  const choices = (list, size) => {
    if (size === 0) return [[]];
    return list.flatMap((word, index) => choices(list.slice(index + 1), size - 1).map((rest) => [word, ...rest]));
  };

  /** Sections by their scores: one counts more if queries find it often, early, in its title, and by words that few sections have. */
  const ranked = (event, list) => {
    const scores = new Map();
    let asked = 0;
    for (let size = list.length; size > 0 && scores.size < SHOWN && asked < TRIED; size--) {
      for (const chosen of choices(list, size).slice(0, TRIED - asked)) {
        asked++;
        const { items, pagination } = ask(event, chosen.join(" ")).data;
        items.forEach((item, rank) => {
          const known = scores.get(item.id) ?? { item, score: 0 };
          const inTitle = item.matches.some((match) => match.field === "title") ? 2 : 1;
          known.score += (inTitle * size ** 3) / ((rank + 2) * Math.log(pagination.total + 2));
          scores.set(item.id, known);
        });
      }
    }
    return [...scores.values()].sort((one, other) => other.score - one.score).map(({ item }) => item);
  };

  /** The best section of each page first. Pages about the project itself come last. */
  const ordered = (items) => {
    const seen = new Set();
    const rank = (item) => {
      const page = (locations[item.id] ?? "").split("#")[0];
      const again = seen.has(page);
      seen.add(page);
      return LAST.test(page) ? 2 : again ? 1 : 0;
    };
    const ranks = items.map((item) => ({ item, rank: rank(item) }));
    return ranks.sort((one, other) => one.rank - other.rank).map(({ item }) => item);
  };

  self.onmessage = (event) => {
    if (event.data.type === 0) locations = event.data.data.items.map((item) => item.location);
    if (event.data.type !== 2) return engine(event);
    const answer = ask(event);
    if (!answer) return undefined;
    const { input, page } = event.data.data;
    const list = typeof input === "string" && !page ? words(input) : [];
    if (list.length > 1) {
      const items = ordered(ranked(event, list)).slice(0, SHOWN);
      return post({ ...answer, data: { ...answer.data, items, pagination: { total: items.length } } });
    }
    return post({ ...answer, data: { ...answer.data, items: ordered(answer.data.items) } });
  };
}
