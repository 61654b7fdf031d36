import TomboloHTTP
import TomboloModel

/// The cached responses for anonymous visitors, by event. This is a plain value, whose owner holds the lock; it does
/// no I/O and never waits.
///
/// Data may change while a response is being rendered. So the caller announces when it begins, and the response is
/// cached only if nothing it was made from has changed since.
struct KeptAnswers {
    /// The number of events with cached responses.
    static let eventLimit = 2_000
    /// The bytes of all responses, including ``keyByteCount`` for each row that they were made from.
    static let byteLimit = 64 << 20
    /// The approximate cost of remembering a row, in bytes.
    static let keyByteCount = 96

    /// An event's answers.
    struct Answers {
        var list: JSONText?
        var page: String?

        fileprivate var byteCount: Int { (list?.byteCount ?? 0) + (page?.utf8.count ?? 0) }
    }

    private struct Entry {
        var answers = Answers()
        /// The keys of the rows that the responses were made from, except the event's own.
        var rows: Set<ObjectId> = []
        var lastUse: UInt64 = 0

        var byteCount: Int { answers.byteCount + rows.count * KeptAnswers.keyByteCount }
    }

    private struct Work {
        let event: ObjectId
        /// The keys that changed meanwhile; nil if there were too many to remember.
        var changed: Set<ObjectId>? = []
    }

    /// The number of changed rows to remember for each response being made.
    static let changeLimit = 10_000

    let eventLimit: Int
    let byteLimit: Int
    private(set) var byteCount = 0
    private var entries: [ObjectId: Entry] = [:]
    /// The event whose responses contain a row.
    private var eventOfRow: [ObjectId: ObjectId] = [:]
    /// The responses being made. Bounded by the number of concurrent requests.
    private var work: [UInt64: Work] = [:]
    private var useCount: UInt64 = 0

    init(eventLimit: Int = Self.eventLimit, byteLimit: Int = Self.byteLimit) {
        self.eventLimit = eventLimit
        self.byteLimit = byteLimit
    }

    var eventCount: Int { entries.count }

    /// The cached responses of an event.
    mutating func answers(of event: ObjectId) -> Answers? {
        useCount += 1
        entries[event]?.lastUse = useCount
        return entries[event]?.answers
    }

    /// Announces that data is about to be read for an event.
    /// - Returns: the number to pass to ``end(_:_:rows:)``.
    mutating func begin(_ event: ObjectId) -> UInt64 {
        useCount += 1
        work[useCount] = Work(event: event)
        return useCount
    }

    /// Ends the work on a response.
    /// - Parameters:
    ///   - answer: stores the response; nil if there is none.
    ///   - rows: the keys of the rows that it was made from.
    mutating func end(_ number: UInt64, _ answer: ((inout Answers) -> Void)?, rows: Set<ObjectId>) {
        guard let work = work.removeValue(forKey: number), let answer, let changed = work.changed else { return }
        let event = work.event
        guard !changed.contains(event), changed.isDisjoint(with: rows) else { return }
        // A row has moved here from another event whose responses are still cached. Its changes would be reported for
        // that event, so don't cache this response.
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

    /// Drops the responses that contain changed rows or events.
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

    /// Drops everything, since anything may have changed.
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

    /// Removes a tenth at once, so that not every new entry causes a sort.
    private mutating func shrink() {
        guard entries.count > eventLimit || byteCount > byteLimit else { return }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        let (events, bytes) = (eventLimit - eventLimit / 10, byteLimit - byteLimit / 10)
        for event in oldest where entries.count > events || byteCount > bytes { remove(event) }
    }
}
