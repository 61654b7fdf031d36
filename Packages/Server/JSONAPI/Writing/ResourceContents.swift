package import TomboloModel

/// What a request sets of a resource, or of an element of a list of embedded objects.
package struct ResourceContents: Sendable {
    /// New values, by column.
    package var values: [Int: Value] = [:]
    /// The contents of lists of values and of links, by the position of the element class.
    package var lists: [Int: [Value]] = [:]
    /// The elements of lists of embedded objects, by the position of the element class.
    package var objects: [Int: [Element]] = [:]
    /// Those of these lists that are empty because the embedded object that has them was sent without them.
    var unnamedLists: Set<Int> = []
    /// Where in the body a column's value is.
    package var pointers: [Int: RequestPointer] = [:]

    /// An element of a list of embedded objects. It's written as a whole: what isn't said of it is null.
    package struct Element: Sendable {
        /// The element that it is of those that the list has; nil, or of no element of the list, for a new one.
        let id: ObjectId?
        var contents = ResourceContents()
        let pointer: RequestPointer
    }
}
