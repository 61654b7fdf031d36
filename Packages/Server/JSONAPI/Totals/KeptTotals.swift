import PostgresClient

/// How many resources lists have, kept until one of the rows that were counted may have changed. It neither reads nor waits:
/// a value, its owner holds the lock.
///
/// Rows may change while they are being counted. So the caller announces when it begins, and the number is kept only if
/// nothing that it depends on has changed since.
struct KeptTotals {
    /// The most numbers that are kept.
    static let countLimit = 4_096
    /// The most bytes of the statements and parameters that they are kept under.
    static let byteLimit = 8 << 20

    /// What is counted: the statement, which has the condition of what the caller may see in it.
    struct Question: Hashable {
        let sql: String
        let parameters: [PostgresParameter]
        /// The class whose rows alone decide about the number; nil if those of other classes may.
        let className: String?

        fileprivate var byteCount: Int { sql.utf8.count + parameters.reduce(0) { $0 + $1.byteCount } }
    }

    private struct Entry {
        let total: Int64
        var lastUse: UInt64
    }

    let countLimit: Int
    let byteLimit: Int
    private var entries: [Question: Entry] = [:]
    private(set) var byteCount = 0
    /// Counts uses, beginnings and changes, in the order in which they came.
    private var now: UInt64 = 0
    /// When rows of a class changed last. Bounded by the classes of all models.
    private var changes: [String: UInt64] = [:]
    private var lastChange: UInt64 = 0
    private var lastDrop: UInt64 = 0

    init(countLimit: Int = Self.countLimit, byteLimit: Int = Self.byteLimit) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { entries.count }

    mutating func total(_ question: Question) -> Int64? {
        now += 1
        entries[question]?.lastUse = now
        return entries[question]?.total
    }

    /// Something is going to be counted.
    /// - Returns: when it began, for ``keep(_:of:since:)``.
    mutating func begin() -> UInt64 {
        now += 1
        return now
    }

    /// Keeps a number, unless a row may have changed since it began to be counted.
    mutating func keep(_ total: Int64, of question: Question, since beginning: UInt64) {
        let changed = max(lastDrop, question.className.map { changes[$0] ?? 0 } ?? lastChange)
        guard changed < beginning, question.byteCount <= byteLimit / 10 else { return }
        now += 1
        if entries.updateValue(Entry(total: total, lastUse: now), forKey: question) == nil {
            byteCount += question.byteCount
        }
        shrink()
    }

    /// Rows of some classes have changed.
    mutating func drop(_ classNames: Set<String>) {
        now += 1
        lastChange = now
        for name in classNames { changes[name] = now }
        for question in entries.keys where question.className.map(classNames.contains) ?? true { remove(question) }
    }

    /// Anything may have changed.
    mutating func dropAll() {
        now += 1
        lastDrop = now
        entries = [:]
        changes = [:]
        byteCount = 0
    }

    private mutating func remove(_ question: Question) {
        if entries.removeValue(forKey: question) != nil { byteCount -= question.byteCount }
    }

    /// A tenth at once, so that not every new entry sorts all.
    private mutating func shrink() {
        guard entries.count > countLimit || byteCount > byteLimit else { return }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        let (count, bytes) = (countLimit - countLimit / 10, byteLimit - byteLimit / 10)
        for question in oldest where entries.count > count || byteCount > bytes { remove(question) }
    }
}
