/// A member of a type's body, as far as it matters for rewriting.
enum Member {
    case property(PropertyDeclaration)
    case function(FunctionDeclaration)
}
