import RandomValues
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

@Suite struct LiveFeedTests {
    private static let schema = try! Schema([
        RandomPredicates.item,
        ClassSchema(name: "Room", columns: [Column(name: "_id", type: .string, isPrimaryKey: true)]),
    ])
    private static let bounds = TickRing.Bounds(tickCount: 4, itemCount: .max, byteCount: .max)

    /// A member, as a device that is matched on its own.
    private struct Device {
        let view: LiveView
        let client: ClientID
        /// The last tick that the device was told about, or was told doesn't concern it.
        var tick: Int64
    }

    private static func view(_ predicate: Predicate, columns: [Int] = [0, 1, 2]) -> LiveView {
        LiveView(
            visibility: Visibility(predicates: [0: predicate]), columns: [0: columns], mask: .none, names: DeviceNames()
        )
    }

    /// What a member is sent for each tick, by the tick's number.
    private typealias Told = [Int64: [[UInt8]]]

    private static func told(_ batches: [LiveBatch]) -> Told {
        Dictionary(uniqueKeysWithValues: batches.map { ($0.tick.number, $0.frames?.messages ?? []) })
    }

    @Test("Tells each member what it would get if every tick were matched with its view alone", arguments: [4, 60])
    func agreesWithMatchingAlone(tickCount: Int) throws {
        var random = RandomPredicates(.printed(for: "live feed"))
        var feed = LiveFeed<Int>(
            schema: Self.schema, bounds: .init(tickCount: tickCount, itemCount: .max, byteCount: .max))
        _ = feed.restart(at: F.tick(1))
        // A few views, so that members share them.
        let views = (0..<12).map { _ in
            Self.view(random.predicate(), columns: random.random.pick([[0, 1, 2], [0, 3]]))
        }
        var rows: [Row?] = Array(repeating: nil, count: 8)
        var ticks: [LiveTick] = []
        var devices: [Int: Device] = [:]
        for number in 2...400 as ClosedRange<Int64> {
            var changes: [RootChange] = []
            for key in rows.indices where random.random.flag(3) {
                var row = random.random.flag(4) ? nil : random.row()
                row?[0] = .int(Int64(key))
                changes.append(
                    RootChange(
                        reference: ObjectReference(classIndex: 0, key: .int(Int64(key))), old: rows[key], new: row))
                rows[key] = row
            }
            let author = ClientID(rawValue: Int64(random.random.int(0...5)))
            let live = LiveTick(
                tick: F.tick(number), previous: number - 1,
                difference: TickDifference(from: number - 1, to: number, changes: changes, clients: [author: number]),
                progress: [author: ClientProgress(last: number, refusals: [])])
            ticks.append(live)
            let advanced = feed.advance(live)
            let announcement = try #require(advanced)
            #expect(announcement.aside.isEmpty)
            var told: [Int: LiveBatch] = [:]
            for (members, batch) in announcement.batches {
                for member in members {
                    let before = told.updateValue(batch, forKey: member)
                    #expect(before == nil, "A member is told once.")
                }
            }
            for (id, device) in devices {
                let expected = LiveFeed<Int>.match(
                    [live], with: device.view, client: device.client, schema: Self.schema)
                let found = told.removeValue(forKey: id).map { Self.told([$0]) } ?? [:]
                try #require(found == Self.told(expected), "Tick \(number), \(device.view.visibility.predicates)")
                devices[id]?.tick = number
            }
            #expect(told.isEmpty, "Only members are told.")
            if let id = devices.keys.sorted().randomElement(using: &random.random.generator), random.random.flag() {
                feed.leave(id)
                devices[id] = nil
            } else {
                let after = max(1, number - Int64(random.random.int(0...(tickCount + 2))))
                let device = Device(
                    view: random.random.pick(views), client: ClientID(rawValue: Int64(random.random.int(0...5))),
                    tick: after)
                let id = Int(number)
                switch feed.follow(
                    .init(member: id, view: device.view, client: device.client, user: "\(id % 3)", after: after))
                {
                case .following(let batches, let newest):
                    #expect(newest.number == number)
                    let missed = ticks.filter { $0.tick.number > after }
                    let expected = LiveFeed<Int>.match(
                        missed, with: device.view, client: device.client, schema: Self.schema)
                    #expect(Self.told(batches) == Self.told(expected))
                    devices[id] = device
                case .gone: #expect(after < number - Int64(tickCount), "The ring should reach back that far.")
                case .matchAside: Issue.record("These predicates are cheap to match.")
                case nil: Issue.record("No member is ahead of the feed.")
                }
            }
            #expect(feed.memberCount == devices.count)
        }
        for id in devices.keys { feed.leave(id) }
        #expect(feed.memberCount == 0 && feed.viewCount == 0)
    }

    private static func change(_ key: Int64, old: Bool? = nil, new: Bool? = true) -> RootChange {
        var random = RandomPredicates(.printed(for: "a row"))
        func row(_ flag: Bool?) -> Row? {
            guard let flag else { return nil }
            var row = random.row()
            row[0] = .int(key)
            row[1] = .bool(flag)
            return row
        }
        return RootChange(reference: ObjectReference(classIndex: 0, key: .int(key)), old: row(old), new: row(new))
    }

    private static func live(_ number: Int64, _ changes: [RootChange]) -> LiveTick {
        LiveTick(
            tick: F.tick(number), previous: number - 1,
            difference: TickDifference(from: number - 1, to: number, changes: changes, clients: [:]), progress: [:])
    }

    private static func isFollowing(_ answer: LiveFeed<Int>.Answer?) -> Bool {
        if case .following = answer { true } else { false }
    }

    @Test("Members that see the same changes share one encoding, whatever their conditions")
    func sharing() throws {
        var feed = LiveFeed<Int>(schema: Self.schema, bounds: Self.bounds)
        _ = feed.restart(at: F.tick(1))
        let path = PropertyPath("bool")
        let flagged = Predicate.compare(path, .equal, .bool(true))
        for id in 0..<100 {
            // One condition, written in two ways, makes two views.
            let predicate = id % 2 == 0 ? flagged : Predicate.not(.not(flagged))
            _ = feed.follow(
                .init(
                    member: id, view: Self.view(predicate), client: ClientID(rawValue: Int64(id)), user: "a", after: 1))
        }
        // Others have fewer columns, or see only one of the two changes.
        for id in 100..<110 {
            _ = feed.follow(
                .init(
                    member: id, view: Self.view(flagged, columns: [0, 3]), client: ClientID(rawValue: Int64(id)),
                    user: "a", after: 1))
        }
        let first = Predicate.compare(PropertyPath("_id"), .equal, .int(1))
        for id in 110..<115 {
            _ = feed.follow(
                .init(member: id, view: Self.view(first), client: ClientID(rawValue: Int64(id)), user: "a", after: 1))
        }
        #expect(feed.viewCount == 4)
        let concerned = feed.advance(Self.live(2, [Self.change(1), Self.change(2)]))
        #expect(concerned?.batches.map(\.members.count).sorted() == [5, 10, 100])
        let unconcerned = feed.advance(Self.live(3, [Self.change(3, new: false)]))
        #expect(unconcerned?.batches.isEmpty == true)
    }

    @Test("A member that would put its user over the cost limit is set aside, and others stay in the feed")
    func expensive() throws {
        var feed = LiveFeed<Int>(schema: Self.schema, bounds: Self.bounds)
        _ = feed.restart(at: F.tick(1))
        let text = PropertyPath("string")
        func searching(_ number: Int, _ count: Int) -> LiveView {
            Self.view(.or((0..<count).map { .text(text, .contains, "\(number) \($0)", ignoringCase: false) }))
        }
        func request(_ id: Int, _ view: LiveView, _ user: String) -> LiveFeed<Int>.Request {
            .init(member: id, view: view, client: ClientID(rawValue: Int64(id)), user: user, after: 1)
        }
        let live = Self.live(2, (0..<50).map { Self.change($0) })
        let cost = searching(0, 2).visibility.matchingCost(
            changeCount: live.difference.changes.count, byteCount: live.difference.byteCount)
        let count = LiveFeed<Int>.maximumMatchingCostOfUser / cost
        #expect(count > 0)
        for id in 0...count { _ = feed.follow(request(id, searching(id, 2), "greedy")) }
        _ = feed.follow(request(1_000, searching(1_000, 2), "modest"))
        let advanced = feed.advance(live)
        let announcement = try #require(advanced)
        #expect(announcement.aside.count == 1 && announcement.aside.allSatisfy { $0 <= count })
        #expect(feed.memberCount == count + 1)
        let again = feed.follow(request(announcement.aside[0], searching(0, 2), "greedy"))
        #expect(Self.isFollowing(again))
    }

    @Test("A member that is ahead of the feed waits for its tick, and reads the changelog if the feed skips it")
    func ahead() throws {
        var feed = LiveFeed<Int>(schema: Self.schema, bounds: Self.bounds)
        _ = feed.restart(at: F.tick(1))
        for (id, after) in [(1, 2), (2, 3), (3, 5)] {
            let answer = feed.follow(
                .init(
                    member: id, view: Self.view(.constant(true)), client: F.client, user: "a", after: Int64(after)))
            #expect(answer == nil)
        }
        #expect(feed.members(of: ["a"]).sorted() == [1, 2, 3])
        let first = feed.advance(Self.live(2, [Self.change(1)]))
        #expect(first?.batches.isEmpty == true && first?.answers.map(\.member) == [1])
        #expect(Self.isFollowing(first?.answers.first?.answer))
        feed.leave(3)
        // A tick from 2 to 4, which doesn't show what happened between 3 and 4.
        let changes = [Self.change(2)]
        let jump = LiveTick(
            tick: F.tick(4), previous: 2,
            difference: TickDifference(from: 2, to: 4, changes: changes, clients: [:]), progress: [:])
        let second = feed.advance(jump)
        #expect(second?.batches.map(\.members) == [[1]])
        guard case .gone? = second?.answers.first?.answer else { return #expect(Bool(false)) }
        #expect(second?.answers.map(\.member) == [2] && feed.memberCount == 1)
    }

    @Test("Nobody is told about a tick that is too large to keep; all members read the changelog")
    func tooLarge() {
        var feed = LiveFeed<Int>(schema: Self.schema, bounds: .init(tickCount: 4, itemCount: 1, byteCount: .max))
        _ = feed.restart(at: F.tick(1))
        _ = feed.follow(
            .init(member: 1, view: Self.view(.constant(true)), client: F.client, user: "a", after: 1))
        let live = Self.live(2, [Self.change(1), Self.change(2)])
        let announcement = feed.advance(live)
        #expect(announcement == nil)
        let members = feed.restart(at: live.tick)
        #expect(members == [1])
        #expect(feed.memberCount == 0 && feed.newest == live.tick)
    }
}
