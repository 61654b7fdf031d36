import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

extension ServerStoreScenario {
    func unseenObjectsCountAsMissing() async throws {
        try await open(ada)
        let theirs = Model.sessionRow("theirs", "One", seats: .max)
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")), Model.put(Model.session, theirs),
            Model.put(Model.session, Model.sessionRow("mine", "Two")),
            Model.put(Model.element, Model.elementRow(1, of: "theirs", "a", 1)))
        let base = try await newTick()
        func upload(_ number: Int64, _ instruction: Instruction, mayCreate: Bool = true) -> Upload {
            Upload(
                client: ada,
                changeset: Changeset(
                    number: number, base: base.number,
                    stamp: Stamp(microseconds: base.time.microseconds + number), instructions: [instruction]),
                permit: { request in
                    let isMine = request.old?[0] == .string("mine")
                    return isMine || request.operation == .create && mayCreate ? nil : "Not permitted."
                },
                sees: { classIndex, row in
                    ![Model.session, Model.element].contains(classIndex) || row[0] == .string("mine")
                })
        }
        // Attempts on an object, an element and a list, to compare the answers for unreadable and missing ones.
        func attempts(_ key: String, _ element: UInt32) -> [Instruction] {
            [
                .set(Model.session(key), field(Model.Session.title, .string("x"))),
                .add(Model.session(key), column: Model.Session.seats, amount: 1),
                .erase(Model.session(key)),
                .set(Model.element(element), field(ElementColumn.rank, .string("z"))),
                .set(Model.element(element), field(ElementColumn.owner, .string("mine"))),
                .erase(Model.element(element)),
                .create(Model.element(element + 10), fields(Model.elementRow(element + 10, of: key, "b", 1))),
            ]
        }
        let unseen = attempts("theirs", 1)
        let missing = attempts("nothing", 2)
        var number: Int64 = 0
        for (one, other) in zip(unseen, missing) {
            let results = try await store.upload([upload(number + 1, one), upload(number + 2, other)])
            number += 2
            try requireEqual(results[0], results[1], "\(one)")
            guard case .applied = results[0] else {
                throw ServerStoreConformanceFailure("\(one) was not dropped: \(results[0])")
            }
        }
        let create = Instruction.create(Model.session("theirs"), fields(Model.sessionRow("theirs", "Mine now")))
        let results = try await store.upload([
            upload(number + 1, create, mayCreate: false), upload(number + 2, create),
            upload(number + 3, .set(Model.session("mine"), field(Model.Session.title, .string("Three")))),
        ])
        try requireEqual(
            results,
            [
                .refused(
                    Refusal(.notPermitted, "Not permitted.", className: "Session", key: .string("theirs"))),
                .refused(
                    Refusal(
                        .constraint, "Another Session already has this primary key.", className: "Session",
                        key: .string("theirs"))),
                .applied(lost: 0),
            ], "creating an existing object, and a write to an object that the user may read")
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session),
            [.string("theirs"): theirs, .string("mine"): Model.sessionRow("mine", "Three")], "sessions")
        try requireEqual(
            Array(try await rows(Model.element).values), [Model.elementRow(1, of: "theirs", "a", 1)], "elements")
    }
}
