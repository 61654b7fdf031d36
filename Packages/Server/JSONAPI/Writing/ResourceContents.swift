package import TomboloModel

/// What a request sets in a resource, or in an element of a list of embedded objects.
package struct ResourceContents: Sendable {
    /// New values, by column.
    package var values: [Int: Value] = [:]
    /// The contents of lists of values and of links, by the position of the element class.
    package var lists: [Int: [Value]] = [:]
    /// The elements of lists of embedded objects, by the position of the element class.
    package var objects: [Int: [Element]] = [:]
    /// Which of these lists are empty because their embedded object was sent without them.
    var unnamedLists: Set<Int> = []
    /// Where in the body a column's value is.
    package var pointers: [Int: RequestPointer] = [:]

    /// An element of a list of embedded objects. It's written as a whole: members that aren't sent become null.
    package struct Element: Sendable {
        /// The id of the existing element that this one is. For a new element it's nil, or the id of no element in the
        /// list.
        let id: ObjectId?
        var contents = ResourceContents()
        let pointer: RequestPointer
    }
}
