/// The words from which ``LargeSample`` composes its rows.
enum LargeSampleText {
    static let givenNames = [
        "Amara", "Björn", "Chloé", "Dmytro", "Elif", "Fatima", "Giulia", "Hans", "Ines", "João", "Keiko", "Léa",
        "Mateusz",
        "Nguyên", "Olufemi", "Priya", "Quentin", "Rosa", "Søren", "Tomás", "Ulrike", "Valentina", "Wei", "Ximena",
        "Yusuf",
        "Zoë", "Åsa", "Brigita", "Ciarán", "Daan",
    ]

    static let familyNames = [
        "Okafor", "Lindqvist", "Müller", "Kovalenko", "Yılmaz", "Haddad", "Rossi", "van den Berg", "Ferreira", "Tanaka",
        "Dubois", "Nowak", "Trần", "Adeyemi", "Sharma", "Lefèvre", "García", "Sørensen", "Novák", "Schmidt", "Moretti",
        "Chen",
        "Hernández", "Demir", "O’Brien", "Andersson", "Petrauskas", "Murphy", "Jansen", "Papadopoulos", "Ivanov",
        "Silva",
        "Kim", "Weber", "Laurent", "Fischer", "Costa",
    ]

    static let openings = [
        "A field guide to", "Rethinking", "Ten years of", "Debugging", "The hidden cost of", "Practical",
        "Growing up with",
        "How we teach", "Measuring", "What nobody says about", "Less code, more", "Surviving", "An honest look at",
        "Building for", "The future of", "Small steps towards", "Testing", "Explaining", "In praise of", "Beyond",
    ]

    static let topics = [
        "offline-first sync", "query planners", "accessible tables", "conflict resolution", "row-level security",
        "server-rendered pages", "event sourcing", "property-based tests", "colour contrast", "schema migrations",
        "time zones", "community moderation",
    ]

    static let tracks = [
        "Data and sync", "Web and access", "Languages", "Security", "Operations", "Community", "Design", "Teaching",
        "Evening talks", "Show and tell",
    ]

    static let rooms = [
        "Auditorium", "Hall 1", "Hall 2", "Hall 3", "Harbour room", "Lighthouse", "Studio A", "Studio B", "Library",
        "Roof terrace",
    ]

    static let organisations = [
        "Ada Systems", "Blue Harbour", "City University", "Deltaworks", "Evergreen Labs", "Free Software Guild",
        "Gridpoint",
    ]

    static let positions = ["Engineer", "Researcher", "Designer", "Teacher", "Team lead"]

    static let cities = [
        ("Lagos", "Nigeria"), ("Stockholm", "Sweden"), ("Berlin", "Germany"), ("Kyiv", "Ukraine"),
        ("Istanbul", "Türkiye"),
        ("Milan", "Italy"), ("Porto", "Portugal"), ("Osaka", "Japan"), ("Lyon", "France"), ("Kraków", "Poland"),
        ("Hanoi", "Viet Nam"),
    ]
}
