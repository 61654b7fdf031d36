/// What to do with a property of a model class.
enum PropertyPlan {
    /// Already correct, or not for us to change.
    case keep
    /// Not rewritten, with the reason.
    case left(String, advice: String)
    /// Not stored, so it loses `@objc` and `dynamic`.
    case plain
    case persisted
    /// `let dogs = List<Dog>()`: the type, and whether the initial value is dropped.
    case collection(type: String, dropsValue: Bool)
    /// `RealmOptional<Int>(5)`: the optional type and the initial value.
    case box(type: String, value: String?)
    case linking(element: String, origin: String)
}
