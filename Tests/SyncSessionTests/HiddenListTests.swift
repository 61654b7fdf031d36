import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// A list that the user may not read is empty on the device, however its elements might get there.
@Suite struct HiddenListTests {
    private static let schema = try! Schema([
        ClassSchema(
            name: "Item",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "group", type: .int(bits: 64)),
            ],
            lists: [
                ListProperty(name: "notes", element: .scalar(.string, isOptional: false)),
                ListProperty(name: "tags", element: .scalar(.string, isOptional: false)),
            ])
    ])
    private static let item = 0
    private static let notes = 1
    private static let tags = 2

    private static func authority(_ fingerprint: UInt64 = 5, hiding hidden: Int?) -> SessionAuthority {
        SessionAuthority(
            user: "user", rulesFingerprint: fingerprint, readable: { .constant($0 != hidden) }, permit: { _ in nil })
    }

    private var session = ServerSession(schema: schema)

    private mutating func on(_ event: ServerSession.Event) -> [ServerSession.Action] { session.handle(event) }

    private mutating func open(
        _ authority: SessionAuthority, formerly: [Int: Predicate]? = nil
    ) -> [ServerSession.Action] {
        var hello = F.hello()
        hello.classes = HelloClass.describe(Self.schema)
        hello.position.schemaFingerprint = HelloClass.fingerprint(of: hello.classes)
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(authority))
        return on(
            .opened(
                ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .valid(F.tick(3)), formerly: formerly))
    }

    private mutating func goLive(_ authority: SessionAuthority) {
        _ = open(authority)
        _ = on(.readFinished(F.end(3), F.tick(3)))
        _ = session.catchUp()
        _ = on(.message(.applied(tick: 3)))
    }

    private static func request(in actions: [ServerSession.Action]) -> ReadRequest? {
        actions.lazy.compactMap { if case .read(let request) = $0 { request } else { nil } }.first
    }

    private static func readsEverything(_ actions: [ServerSession.Action]) -> Bool? {
        request(in: actions).map { $0.from == nil }
    }

    private static func elementRow(_ number: UInt8) -> Row {
        let bytes = [UInt8](repeating: number, count: ObjectId.byteCount)
        return Row([
            ObjectId(bytes: bytes).map(Value.objectId) ?? .null, .int(1), .string("a"), .string("secret \(number)"),
        ])
    }

    /// A tick in which both lists of one object changed.
    private static func live(_ number: Int64) -> LiveTick {
        let row = Row([.int(1), .int(1)])
        let change = RootChange(
            reference: ObjectReference(classIndex: item, key: .int(1)), old: row, new: row,
            changedElements: [notes: [elementRow(1)], tags: [elementRow(2)]],
            removedElements: [notes: [elementRow(3)[0]], tags: [elementRow(4)[0]]])
        return LiveTick(
            tick: F.tick(number), previous: number - 1,
            difference: TickDifference(from: number - 1, to: number, changes: [change], clients: [:]), progress: [:])
    }

    private static func classes(sentBy actions: [ServerSession.Action]) -> Set<Int> {
        var result: Set<Int> = []
        for case .sendFrames(let frames) in actions {
            for message in frames.messages {
                guard case .frame(let frame) = try? MessageCodec(schema: schema).decodeServerMessage(message) else {
                    continue
                }
                result.formUnion(frame.blocks.map(\.classIndex) + frame.removals.map(\.classIndex))
            }
        }
        return result
    }

    @Test("The elements of a hidden list aren't read for a batch")
    mutating func batch() {
        #expect(Self.request(in: open(Self.authority(hiding: Self.notes)))?.deviceColumns.keys.sorted() == [0, 2])
        session = ServerSession(schema: Self.schema)
        #expect(Self.request(in: open(Self.authority(hiding: nil)))?.deviceColumns.keys.sorted() == [0, 1, 2])
    }

    @Test("A live tick has neither elements nor removals of a hidden list")
    mutating func tick() {
        goLive(Self.authority(hiding: Self.notes))
        #expect(Self.classes(sentBy: session.tell(Self.live(4), in: Self.schema)) == [Self.tags])
        session = ServerSession(schema: Self.schema)
        goLive(Self.authority(hiding: nil))
        #expect(Self.classes(sentBy: session.tell(Self.live(4), in: Self.schema)) == [Self.notes, Self.tags])
    }

    @Test("Rules that hide or show a list replace everything")
    mutating func change() throws {
        goLive(Self.authority(hiding: nil))
        let hides = try #require(Self.request(in: on(.authorityChanged(Self.authority(6, hiding: Self.notes)))))
        #expect(hides.from == nil && hides.deviceColumns[Self.notes] == nil)
        _ = on(.readFinished(F.end(4, replacesAll: true), F.tick(4)))
        let shows = try #require(Self.request(in: on(.authorityChanged(Self.authority(7, hiding: nil)))))
        #expect(shows.from == nil && shows.deviceColumns[Self.notes] != nil)
    }

    @Test("If a list is hidden while a batch is being read, the batch starts over without it")
    mutating func whileReading() throws {
        _ = open(Self.authority(hiding: nil))
        let request = try #require(Self.request(in: on(.authorityChanged(Self.authority(6, hiding: Self.notes)))))
        #expect(request.from == nil && request.deviceColumns[Self.notes] == nil)
    }

    @Test("A returning device gets everything if a list is now hidden that wasn't before, otherwise the difference")
    mutating func comesBack() {
        let everything: [Int: Predicate] = [0: .constant(true), 1: .constant(true), 2: .constant(true)]
        #expect(Self.readsEverything(open(Self.authority(6, hiding: Self.notes), formerly: everything)) == true)
        session = ServerSession(schema: Self.schema)
        #expect(Self.readsEverything(open(Self.authority(6, hiding: nil), formerly: everything)) == false)
        session = ServerSession(schema: Self.schema)
        let withoutNotes = everything.filter { $0.key != Self.notes }
        #expect(Self.readsEverything(open(Self.authority(6, hiding: Self.notes), formerly: withoutNotes)) == false)
    }

    @Test("A returning device gets everything if a property that it has is now hidden")
    mutating func columnHidden() {
        let authority = SessionAuthority(
            user: "user", rulesFingerprint: 6, readable: { _ in .constant(true) }, hidden: [Self.item: [1]],
            permit: { _ in nil })
        let everything: [Int: Predicate] = [0: .constant(true), 1: .constant(true), 2: .constant(true)]
        #expect(Self.readsEverything(open(authority, formerly: everything)) == true)
    }

    @Test("After a move a hidden list stays hidden, and one that the new rules hide replaces everything")
    mutating func move() {
        goLive(Self.authority(hiding: Self.notes))
        _ = session.hold()
        let same = session.move(to: Self.schema, Self.authority(6, hiding: Self.notes))
        #expect(Self.readsEverything(same) == false)
        #expect(Self.request(in: same)?.deviceColumns.keys.sorted() == [0, 2])
        _ = on(.readFinished(F.end(4), F.tick(4)))
        _ = session.catchUp()
        _ = session.hold()
        #expect(Self.readsEverything(session.move(to: Self.schema, Self.authority(7, hiding: Self.tags))) == true)
    }
}
