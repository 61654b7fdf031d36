import TomboloChangesets
import TomboloModel
import TomboloSyncSession

extension ServerStoreScenario {
    func linksToErasedObjectsBecomeNil() async throws {
        try await open(ada)
        try await write(
            Model.put(Model.room, Model.roomRow(1, "Aula")),
            Model.put(Model.session, Model.sessionRow("a", "One", room: 1)))
        let base = try await newTick()
        try await write((Model.room(1), nil))
        try await apply(
            upload(
                ada, 1, base: base, .create(Model.session("b"), fields(Model.sessionRow("b", "Two", room: 1))),
                .create(Model.session("c"), fields(Model.sessionRow("c", "Three", room: 9))),
                .create(Model.session("d"), fields(Model.sessionRow("d", "Four", room: 2))),
                .create(Model.room(2), fields(Model.roomRow(2, "Foyer")))))
        _ = try await newTick()
        let sessions = try await rows(Model.session)
        for key in ["a", "b", "c"] {
            try requireEqual(sessions[.string(key)]?[Model.Session.room], .null, "the room of \(key)")
        }
        try requireEqual(sessions[.string("d")]?[Model.Session.room], Model.room(2).key, "the room of d")
    }

    /// This includes lists of speakers: an element is removed with its speaker.
    func erasesEndLinksOfTheirChangeset() async throws {
        try await open(ada)
        try await write(
            Model.put(Model.room, Model.roomRow(1, "Aula")), Model.put(Model.speaker, Model.speakerRow(1, "Ada")),
            Model.put(Model.session, Model.sessionRow("a", "One")))
        let base = try await newTick()
        let aula: Instruction = .create(Model.room(1), fields(Model.roomRow(1, "Aula again")))
        let foyer: Instruction = .create(Model.room(2), fields(Model.roomRow(2, "Foyer")))
        try await apply(
            // Links to an existing room, from an existing object and from a new one.
            upload(
                ada, 1, base: base, .set(Model.session("a"), field(Model.Session.room, Model.room(1).key)),
                .create(Model.session("b"), fields(Model.sessionRow("b", "Two", room: 1))), .erase(Model.room(1)), aula),
            // A link to a room that is created later.
            upload(
                ada, 2, base: base, .create(Model.session("c"), fields(Model.sessionRow("c", "Three", room: 2))), foyer,
                .erase(Model.room(2)), foyer),
            upload(
                ada, 3, base: base, .create(Model.element(1), fields(Model.elementRow(1, of: "a", "a", 1))),
                .erase(Model.speaker(1)), .create(Model.speaker(1), fields(Model.speakerRow(1, "Ada again")))),
            // A link that is made after the erase leads to the new room.
            upload(
                ada, 4, base: base, .erase(Model.room(2)),
                .create(Model.session("d"), fields(Model.sessionRow("d", "Four", room: 2))), foyer))
        _ = try await newTick()
        let sessions = try await rows(Model.session)
        for key in ["a", "b", "c"] {
            try requireEqual(sessions[.string(key)]?[Model.Session.room], .null, "the room of \(key)")
        }
        try requireEqual(sessions[.string("d")]?[Model.Session.room], Model.room(2).key, "the room of d")
        try requireEqual(
            try await rows(Model.room),
            [
                Model.room(1).key: Model.roomRow(1, "Aula again"), Model.room(2).key: Model.roomRow(2, "Foyer"),
            ], "rooms")
        try requireEqual(try await rows(Model.element), [:], "elements")
        try requireEqual(
            try await rows(Model.speaker), [.int(1): Model.speakerRow(1, "Ada again")], "speakers")
    }
}
