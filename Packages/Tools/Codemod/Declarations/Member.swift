/// What a type's body holds, as far as rewriting cares.
enum Member {
    case property(PropertyDeclaration)
    case function(FunctionDeclaration)
}
