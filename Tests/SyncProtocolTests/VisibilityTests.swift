import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@Suite("Visibility and frames")
struct VisibilityTests {
    let schema: Schema
    let room: Int
    let tag: Int
    let everything: Int
    let element: Int

    init() throws {
        schema = try SampleSchema.make()
        room = try #require(schema.index(of: "Room"))
        tag = try #require(schema.index(of: "Tag"))
        everything = try #require(schema.index(of: "Everything"))
        element = try #require(schema.index(of: "Everything.rooms"))
    }

    private func seats(_ comparison: Predicate.Comparison, _ number: Int64) -> Predicate {
        .compare(PropertyPath("seats"), comparison, .int(number))
    }

    private var allColumns: [Int: [Int]] {
        Dictionary(
            uniqueKeysWithValues: schema.classes.enumerated().map { index, item in
                let key = item.primaryKeyIndex ?? 0
                return (index, [key] + item.columns.indices.filter { $0 != key })
            })
    }

    private func roomRow(_ code: String, _ seats: Int64) -> Row { Row([.string(code), .int(seats)]) }

    private func change(_ old: Int64?, _ new: Int64?) -> RootChange {
        RootChange(
            reference: ObjectReference(classIndex: room, key: .string("a")), old: old.map { roomRow("a", $0) },
            new: new.map { roomRow("a", $0) })
    }

    @Test("Subscriptions to one class add up, and rules narrow them")
    func union() {
        let set = SubscriptionSet(
            version: 1,
            subscriptions: [
                Subscription(name: "small", className: "Room", predicate: seats(.less, 10)),
                Subscription(name: "large", className: "Room", predicate: seats(.greater, 90)),
                Subscription(name: nil, className: "Tag", predicate: .constant(true)),
                Subscription(name: nil, className: "Unknown", predicate: .constant(true)),
            ])
        let visibility = Visibility(subscriptions: set, schema: schema) { index in
            index == room ? seats(.notEqual, 95) : .constant(false)
        }
        #expect(Array(visibility.predicates.keys) == [room])
        for (number, expected) in [(5, true), (50, false), (95, false), (96, true)] as [(Int64, Bool)] {
            #expect(visibility.includes(roomRow("a", number), classIndex: room, schema: schema) == expected)
        }
        #expect(!visibility.includes(nil, classIndex: room, schema: schema))
        #expect(!visibility.includes(Row([.int(1), .null]), classIndex: tag, schema: schema))
        #expect(!Visibility.nothing.includes(roomRow("a", 5), classIndex: room, schema: schema))
    }

    private func seeing(_ visibility: Visibility) -> RowVisibility { RowVisibility(visibility, in: schema) }

    @Test("An object that starts to match is sent whole, with its elements")
    func movesIn() throws {
        var random = RandomMessages(schema: schema, seed: 3)
        let row = random.row(everything)
        let elements = (0..<3).map { _ in random.row(element) }
        let change = RootChange(
            reference: ObjectReference(classIndex: everything, key: row[0]), old: nil, new: row,
            elements: [element: elements], changedElements: [element: [elements[0]]])
        var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
        builder.add(
            change, old: seeing(.nothing),
            new: seeing(Visibility(predicates: [everything: .constant(true)])))
        let frames = builder.frames()
        let frame = try #require(frames.first)
        #expect(frames.count == 1)
        #expect(frame.blocks.map(\.classIndex) == [everything, element])
        #expect(frame.blocks.map(\.rowCount) == [1, 3])
        #expect(frame.blocks.map(\.isWhole) == [true, true])
        #expect(frame.removals.isEmpty)
        #expect(frame.totalObjects == 4)
        #expect(frame.objectsSoFar == 4)
        for (position, column) in frame.blocks[0].columns.enumerated() {
            #expect(frame.blocks[0].value(row: 0, position: position, schema: schema) == row[column])
        }
    }

    @Test("An object that stops matching or is erased is removed by key, without naming its elements")
    func movesOut() {
        let small = Visibility(predicates: [room: seats(.less, 10)])
        for change in [change(5, 50), change(5, nil)] {
            var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
            builder.add(change, old: seeing(small), new: seeing(small))
            #expect(
                builder.frames() == [
                    BatchFrame(
                        sequence: 0, removals: [ObjectRemoval(classIndex: room, keys: [.string("a")])],
                        totalObjects: 1, objectsSoFar: 1)
                ])
        }
    }

    @Test("Only the changed properties of an object that still matches are sent")
    func updates() throws {
        var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
        let all = Visibility(predicates: [room: .constant(true)])
        builder.add(change(5, 6), old: seeing(all), new: seeing(all))
        let block = try #require(builder.frames().first?.blocks.first)
        #expect(block.columns == [0, 1])
        #expect(!block.isWhole)
        #expect(block.value(row: 0, position: 1, schema: schema) == .int(6))
    }

    @Test("Nothing is sent for objects that stayed invisible or didn't change")
    func nothing() {
        let small = Visibility(predicates: [room: seats(.less, 10)])
        for change in [change(50, 60), change(nil, 60), change(50, nil), change(nil, nil), change(5, 5)] {
            var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
            builder.add(change, old: seeing(small), new: seeing(small))
            #expect(builder.frames().isEmpty)
            #expect(builder.objectCount == 0)
        }
    }

    @Test("A changed subscription moves objects in and out even if they didn't change")
    func otherVisibility() {
        let small = Visibility(predicates: [room: seats(.less, 10)])
        let large = Visibility(predicates: [room: seats(.greater, 10)])
        var out = FrameBuilder(schema: schema, deviceColumns: allColumns)
        out.add(change(5, 5), old: seeing(small), new: seeing(large))
        #expect(out.frames().first?.removals == [ObjectRemoval(classIndex: room, keys: [.string("a")])])
        var into = FrameBuilder(schema: schema, deviceColumns: allColumns)
        into.add(change(50, 50), old: seeing(small), new: seeing(large))
        #expect(into.frames().first?.blocks.first?.isWhole == true)
    }

    @Test("For objects that stay visible, changed elements are sent whole and removed ones by key")
    func elements() throws {
        var random = RandomMessages(schema: schema, seed: 4)
        let row = random.row(everything)
        let changed = random.row(element)
        let all = Visibility(predicates: [everything: .constant(true)])
        let change = RootChange(
            reference: ObjectReference(classIndex: everything, key: row[0]), old: row, new: row,
            elements: [element: [changed, random.row(element)]], changedElements: [element: [changed]],
            removedElements: [element: [.objectId(ObjectId())]])
        var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
        builder.add(change, old: seeing(all), new: seeing(all))
        let frame = try #require(builder.frames().first)
        #expect(frame.blocks.map(\.classIndex) == [element])
        #expect(frame.blocks.first?.rowCount == 1)
        #expect(frame.blocks.first?.isWhole == true)
        #expect(frame.removals == [ObjectRemoval(classIndex: element, keys: [.objectId(ObjectId())])])
    }

    @Test("Classes and properties that the device lacks are left out")
    func deviceColumns() throws {
        let all = Visibility(predicates: [room: .constant(true), tag: .constant(true)])
        var builder = FrameBuilder(schema: schema, deviceColumns: [tag: [0]])
        builder.add(change(nil, 5), old: seeing(all), new: seeing(all))
        builder.add(change(5, nil), old: seeing(all), new: seeing(all))
        #expect(builder.frames().isEmpty)
        let tagChange = RootChange(
            reference: ObjectReference(classIndex: tag, key: .int(1)), old: Row([.int(1), .null]),
            new: Row([.int(1), .string("x")]))
        builder.add(tagChange, old: seeing(all), new: seeing(all))
        #expect(builder.frames().isEmpty)
        builder.add(tagChange, old: seeing(.nothing), new: seeing(all))
        #expect(builder.frames().first?.blocks.first?.columns == [0])
    }

    @Test("A change to hidden properties alone sends nothing, but a whole object has every column")
    func hiddenColumns() throws {
        let all = Visibility(predicates: [tag: .constant(true), room: .constant(true)])
        var builder = FrameBuilder(schema: schema, deviceColumns: allColumns, hidden: [room: [1]])
        builder.add(change(5, 6), old: seeing(all), new: seeing(all))
        #expect(builder.frames().isEmpty && builder.objectCount == 0)
        builder.add(change(nil, 6), old: seeing(all), new: seeing(all))
        #expect(builder.frames().first?.blocks.first?.columns == [0, 1], "A whole object has every column.")
    }

    @Test("A list is hidden if its elements may not be read but some of the objects that have it may")
    func hiddenLists() throws {
        let others = schema.elementClassIndexes(of: everything).filter { $0 != element }
        func hidden(_ readable: (Int) -> Predicate) -> Set<Int> {
            Visibility.hiddenLists(of: schema.classes.indices, in: schema, readable: readable)
        }
        #expect(hidden { .constant($0 != element) } == [element])
        #expect(hidden { _ in .constant(true) } == [])
        #expect(hidden { _ in .constant(false) } == [], "No object of the class may be read.")
        #expect(hidden { $0 == everything ? seats(.less, 5) : .constant(false) } == Set(others + [element]))
    }

    @Test("Large batches are split into numbered frames with nothing missing")
    func cut() throws {
        let all = Visibility(predicates: [room: .constant(true)])
        var builder = FrameBuilder(schema: schema, deviceColumns: allColumns)
        let removed = BatchFrame.maximumRemovalCount * 2 + 5
        for number in 0..<removed { builder.remove(.int(Int64(number)), classIndex: tag) }
        let rows = RowBlock.maximumRowCount + 10
        for number in 0..<rows {
            builder.add(
                RootChange(
                    reference: ObjectReference(classIndex: room, key: .string("\(number)")), old: nil,
                    new: roomRow("\(number)", 1)),
                old: seeing(all), new: seeing(all))
        }
        let frames = builder.frames()
        #expect(frames.map(\.sequence) == Array(frames.indices))
        #expect(frames.flatMap(\.removals).reduce(0) { $0 + $1.keys.count } == removed)
        #expect(frames.flatMap(\.blocks).reduce(0) { $0 + $1.rowCount } == rows)
        for frame in frames {
            #expect(frame.removals.reduce(0) { $0 + $1.keys.count } <= BatchFrame.maximumRemovalCount)
            #expect(frame.totalObjects == removed + rows)
            let codec = MessageCodec(schema: schema)
            #expect(try codec.decodeBatchFrame(codec.encode(frame)) == frame)
        }
        #expect(frames.last?.objectsSoFar == removed + rows)
    }

    @Test("A set whose queries are too large in total is refused, naming one of them")
    func setSize() {
        let query = Predicate.isIn(PropertyPath("seats"), (0..<4_000).map { .int($0) })
        func set(_ count: Int) -> SubscriptionSet {
            SubscriptionSet(
                version: 1,
                subscriptions: (1...count).map {
                    Subscription(name: "query \($0)", className: "Room", predicate: query)
                })
        }
        #expect(throws: Never.self) { try set(7).check(in: schema) }
        let error = #expect(throws: ValueError.self) { try set(8).check(in: schema) }
        #expect(error?.message.contains("'query 8'") == true)
    }

    @Test("The total number of text searches in a set's queries is bounded")
    func searchCount() throws {
        let tag = schema.classes.firstIndex { $0.name == "Tag" }
        #expect(tag != nil)
        let query = Predicate.text(PropertyPath("label"), .contains, "a", ignoringCase: false)
        func set(_ count: Int) -> SubscriptionSet {
            SubscriptionSet(
                version: 1,
                subscriptions: [
                    Subscription(
                        name: "most", className: "Tag", predicate: .or(Array(repeating: query, count: count - 1))),
                    Subscription(name: "last", className: "Tag", predicate: query),
                ])
        }
        try set(SubscriptionSet.maximumSearchCount).check(in: schema)
        let error = #expect(throws: ValueError.self) {
            try set(SubscriptionSet.maximumSearchCount + 1).check(in: schema)
        }
        #expect(error?.message.contains("'last'") == true)
    }

    @Test("Frames of removals stay near the target size, however long the keys")
    func longKeys() {
        var builder = FrameBuilder(schema: schema, deviceColumns: [room: [0, 1]])
        let length = 100_000
        for number in 0..<50 {
            builder.remove(.string("\(number)" + String(repeating: "x", count: length)), classIndex: room)
        }
        let frames = builder.frames()
        #expect(frames.map(\.sequence) == Array(frames.indices))
        #expect(frames.flatMap(\.removals).reduce(0) { $0 + $1.keys.count } == 50)
        let limit = BatchFrame.targetByteCount + 2 * length
        #expect(frames.allSatisfy { MessageCodec(schema: schema).encode($0).count <= limit })
    }

    @Test("Frames stay near the target size, however many changes and however large the rows")
    func frameSize() throws {
        let columns = [room: [0, 1]]
        for (count, length) in [(12_000, 350), (20, 300_000)] {
            var builder = FrameBuilder(schema: schema, deviceColumns: columns)
            var block = RowBlock(schema: schema, classIndex: room, columns: [0, 1], isWhole: true)
            for number in 0..<count {
                let row = roomRow("\(number) " + String(repeating: "x", count: length), Int64(number))
                builder.addWhole(row, classIndex: room)
                block.append(row)
            }
            let limit = 2 * (BatchFrame.targetByteCount + length)
            let frames = builder.frames()
            #expect(frames.allSatisfy { $0.blocks.reduce(0) { $0 + $1.byteCount } <= limit })
            #expect(frames.reduce(0) { $0 + $1.blocks.reduce(0) { $0 + $1.rowCount } } == count)

            let parts = block.cut(schema: schema)
            #expect(parts.allSatisfy { $0.byteCount <= limit })
            let keys = parts.flatMap { part in (0..<part.rowCount).map { part.key(row: $0, schema: schema) } }
            #expect(keys == (0..<block.rowCount).map { block.key(row: $0, schema: schema) })
            let even = block.cut(schema: schema) { $0.isMultiple(of: 2) }
            #expect(even.reduce(0) { $0 + $1.rowCount } == count / 2)
        }
    }
}
