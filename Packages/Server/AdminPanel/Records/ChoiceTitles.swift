import TomboloModel

/// Titles of one class's objects, by id. Ids are compared by their bytes, as in the database.
struct ChoiceTitles: Sendable {
    private var titles: [Value: String] = [:]

    init() {}

    init(_ choices: [RecordReader.Choice]) {
        for choice in choices { titles[.string(choice.id)] = choice.title }
    }

    subscript(id: String) -> String? {
        get { titles[.string(id)] }
        set { titles[.string(id)] = newValue }
    }
}
