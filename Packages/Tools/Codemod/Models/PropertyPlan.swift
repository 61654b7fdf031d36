/// What becomes of a property of a model class.
enum PropertyPlan {
    /// Already as it should be, or none of our business.
    case keep
    /// Not rewritten, and why.
    case left(String, advice: String)
    /// Not stored: loses `@objc` and `dynamic`.
    case plain
    case persisted
    /// `let dogs = List<Dog>()`: the type, and whether the initial value goes.
    case collection(type: String, dropsValue: Bool)
    /// `RealmOptional<Int>(5)`: the optional type and the initial value.
    case box(type: String, value: String?)
    case linking(element: String, origin: String)
}
