/// Answers that were made from rows, kept until one of these rows may have changed. It neither reads nor waits: a value, its
/// owner holds the lock.
///
/// Rows may change while an answer is being made. So the caller says when it began, and an answer isn't given out if anything
/// that it depends on has changed since.
///
/// Answers are in two generations. Once the younger one has half of the room, it becomes the older one, and what nobody has
/// asked for since it became that goes.
struct AnswerCache<Question: KeptQuestion, Answer: KeptAnswer> {
    private struct Entry {
        let answer: Answer
        let byteCount: Int
        /// Whose rows decide about the answer; nil for those of any class.
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
    /// The most bytes of them and of their questions. No answer is kept that takes more than a tenth.
    let byteLimit: Int
    private var young = Generation()
    private var old = Generation()
    /// Counts beginnings and changes, in the order in which they came.
    private var now: UInt64 = 0
    /// When rows of a class changed last. Bounded by the classes of all models.
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

    /// Something is going to be read.
    /// - Returns: when it began, for ``keep(_:to:of:since:)``.
    mutating func begin() -> UInt64 {
        now += 1
        return now
    }

    /// Keeps an answer until something changes that wasn't said before it began to be made.
    /// - Parameter classNames: the classes whose rows decide about the answer; nil if those of any class may.
    mutating func keep(_ answer: Answer, to question: Question, of classNames: Set<String>?, since beginning: UInt64) {
        let entry = Entry(
            answer: answer, byteCount: question.byteCount + answer.byteCount, classNames: classNames,
            beginning: beginning)
        guard isGood(entry), entry.byteCount <= byteLimit / 10 else { return }
        _ = young.remove(question)
        _ = old.remove(question)
        add(entry, question)
    }

    /// Rows of some classes have changed.
    mutating func drop(_ classNames: Set<String>) {
        now += 1
        lastChange = now
        for name in classNames { changes[name] = now }
    }

    /// Anything may have changed.
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

/// Everything that an answer depends on but the rows themselves: what the caller may see is in it, too.
protocol KeptQuestion: Hashable, Sendable {
    /// About how much memory the question takes, in bytes.
    var byteCount: Int { get }
}

protocol KeptAnswer: Sendable {
    /// About how much memory the answer takes, in bytes.
    var byteCount: Int { get }
}
