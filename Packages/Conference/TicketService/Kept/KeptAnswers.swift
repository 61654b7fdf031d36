import TomboloHTTP
import TomboloModel

/// What is kept rendered for anonymous visitors, by event: a value, its owner holds the lock. It neither reads nor waits.
///
/// The data may change while an answer is being rendered. So the caller announces when it begins, and the answer is kept
/// only if nothing it was made from has changed since.
struct KeptAnswers {
    /// Events that something is kept of.
    static let eventLimit = 2_000
    /// Bytes of all answers, with ``keyByteCount`` for each row that they were made of.
    static let byteLimit = 64 << 20
    /// Roughly what it takes to remember a row.
    static let keyByteCount = 96

    /// An event's answers.
    struct Answers {
        var list: JSONText?
        var page: String?

        fileprivate var byteCount: Int { (list?.byteCount ?? 0) + (page?.utf8.count ?? 0) }
    }

    private struct Entry {
        var answers = Answers()
        /// The keys of rows that the answers were made of, but for the event's.
        var rows: Set<ObjectId> = []
        var lastUse: UInt64 = 0

        var byteCount: Int { answers.byteCount + rows.count * KeptAnswers.keyByteCount }
    }

    private struct Work {
        let event: ObjectId
        /// What was changed meanwhile; nil where that's too much to remember.
        var changed: Set<ObjectId>? = []
    }

    /// Changed rows that are remembered for each piece of work.
    static let changeLimit = 10_000

    let eventLimit: Int
    let byteLimit: Int
    private(set) var byteCount = 0
    private var entries: [ObjectId: Entry] = [:]
    /// Which event's answers a row is in.
    private var eventOfRow: [ObjectId: ObjectId] = [:]
    /// Bounded by the requests that there are at a time.
    private var work: [UInt64: Work] = [:]
    private var useCount: UInt64 = 0

    init(eventLimit: Int = Self.eventLimit, byteLimit: Int = Self.byteLimit) {
        self.eventLimit = eventLimit
        self.byteLimit = byteLimit
    }

    var eventCount: Int { entries.count }

    /// What is kept of an event.
    mutating func answers(of event: ObjectId) -> Answers? {
        useCount += 1
        entries[event]?.lastUse = useCount
        return entries[event]?.answers
    }

    /// Something is going to be read for an event.
    /// - Returns: the number of the work, for ``end(_:_:rows:)``.
    mutating func begin(_ event: ObjectId) -> UInt64 {
        useCount += 1
        work[useCount] = Work(event: event)
        return useCount
    }

    /// The work has come to an end.
    /// - Parameters:
    ///   - answer: where an answer is, and what it is; nil if there is none.
    ///   - rows: the keys of the rows that it was made of.
    mutating func end(_ number: UInt64, _ answer: ((inout Answers) -> Void)?, rows: Set<ObjectId>) {
        guard let work = work.removeValue(forKey: number), let answer, let changed = work.changed else { return }
        let event = work.event
        guard !changed.contains(event), changed.isDisjoint(with: rows) else { return }
        // A row of another event's answers has come to this one, which that one would have been told of.
        guard rows.allSatisfy({ eventOfRow[$0].map { $0 == event } ?? true }) else { return }
        var entry = entries[event] ?? Entry()
        byteCount -= entry.byteCount
        answer(&entry.answers)
        entry.rows.formUnion(rows)
        useCount += 1
        entry.lastUse = useCount
        byteCount += entry.byteCount
        for row in rows { eventOfRow[row] = event }
        entries[event] = entry
        shrink()
    }

    /// Rows, or events, were changed.
    mutating func drop(_ changed: Set<ObjectId>) {
        for key in changed {
            remove(key)
            if let event = eventOfRow[key] { remove(event) }
        }
        for number in work.keys {
            work[number]?.changed?.formUnion(changed)
            if work[number]?.changed?.count ?? 0 > Self.changeLimit { work[number]?.changed = nil }
        }
    }

    /// Anything may have changed.
    mutating func dropAll() {
        entries = [:]
        eventOfRow = [:]
        byteCount = 0
        work = [:]
    }

    private mutating func remove(_ event: ObjectId) {
        guard let entry = entries.removeValue(forKey: event) else { return }
        byteCount -= entry.byteCount
        for row in entry.rows { eventOfRow[row] = nil }
    }

    /// A tenth at once, so that not every new entry sorts all.
    private mutating func shrink() {
        guard entries.count > eventLimit || byteCount > byteLimit else { return }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        let (events, bytes) = (eventLimit - eventLimit / 10, byteLimit - byteLimit / 10)
        for event in oldest where entries.count > events || byteCount > bytes { remove(event) }
    }
}
