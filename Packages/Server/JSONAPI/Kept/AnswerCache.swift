/// A cache of answers that were made from rows, until one of these rows may have changed. It neither reads nor waits:
/// it's a value, whose owner holds the lock.
///
/// Rows may change while an answer is being made. So the caller says when it began, and a stale answer isn't returned:
/// one that depends on anything that has changed since.
///
/// Answers are in two generations. Once the younger one fills half of the room, it becomes the older one, and the
/// previous older one is dropped, with all answers that weren't requested since.
struct AnswerCache<Question: KeptQuestion, Answer: KeptAnswer> {
    private struct Entry {
        let answer: Answer
        let byteCount: Int
        /// The classes whose rows the answer depends on; nil if it may depend on those of any class.
        let classNames: Set<String>?
        let beginning: UInt64
    }

    private struct Generation {
        var entries: [Question: Entry] = [:]
        var byteCount = 0

        mutating func remove(_ question: Question) -> Entry? {
            let entry = entries.removeValue(forKey: question)
            byteCount -= entry?.byteCount ?? 0
            return entry
        }
    }

    /// The most answers that are kept.
    let countLimit: Int
    /// The most bytes of answers with their questions. An answer that takes more than a tenth isn't kept.
    let byteLimit: Int
    private var young = Generation()
    private var old = Generation()
    /// A logical clock of beginnings and changes.
    private var now: UInt64 = 0
    /// When rows of each class last changed. Bounded by the number of classes in all models.
    private var changes: [String: UInt64] = [:]
    private var lastChange: UInt64 = 0
    private var lastDrop: UInt64 = 0

    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { young.entries.count + old.entries.count }
    var byteCount: Int { young.byteCount + old.byteCount }

    /// Whether there may be an answer.
    func contains(_ question: Question) -> Bool { young.entries[question] != nil || old.entries[question] != nil }

    mutating func answer(to question: Question) -> Answer? {
        if let entry = young.entries[question] {
            if isGood(entry) { return entry.answer }
            _ = young.remove(question)
        } else if let entry = old.remove(question), isGood(entry) {
            add(entry, question)
            return entry.answer
        }
        return nil
    }

    /// Call this before reading.
    /// - Returns: the moment, for ``keep(_:to:of:since:)``.
    mutating func begin() -> UInt64 {
        now += 1
        return now
    }

    /// Keeps an answer until a change of what it depends on is reported. If that has happened since `beginning`, it
    /// isn't kept.
    /// - Parameter classNames: the classes whose rows the answer depends on; nil if it may depend on those of any
    ///   class.
    mutating func keep(_ answer: Answer, to question: Question, of classNames: Set<String>?, since beginning: UInt64) {
        let entry = Entry(
            answer: answer, byteCount: question.byteCount + answer.byteCount, classNames: classNames,
            beginning: beginning)
        guard isGood(entry), entry.byteCount <= byteLimit / 10 else { return }
        _ = young.remove(question)
        _ = old.remove(question)
        add(entry, question)
    }

    /// Drops answers that depend on these classes: some of their rows have changed.
    mutating func drop(_ classNames: Set<String>) {
        now += 1
        lastChange = now
        for name in classNames { changes[name] = now }
    }

    /// Drops everything, since anything may have changed.
    mutating func dropAll() {
        now += 1
        lastDrop = now
        changes = [:]
        young = Generation()
        old = Generation()
    }

    private func isGood(_ entry: Entry) -> Bool {
        guard entry.beginning > lastDrop else { return false }
        guard let classNames = entry.classNames else { return entry.beginning > lastChange }
        return classNames.allSatisfy { entry.beginning > changes[$0] ?? 0 }
    }

    private mutating func add(_ entry: Entry, _ question: Question) {
        if young.entries.count >= countLimit / 2 || young.byteCount + entry.byteCount > byteLimit / 2 {
            old = young
            young = Generation()
        }
        young.entries[question] = entry
        young.byteCount += entry.byteCount
    }
}

/// Everything that an answer depends on except the rows themselves. That includes what the caller may see.
protocol KeptQuestion: Hashable, Sendable {
    /// About how much memory the question takes, in bytes.
    var byteCount: Int { get }
}

protocol KeptAnswer: Sendable {
    /// About how much memory the answer takes, in bytes.
    var byteCount: Int { get }
}
