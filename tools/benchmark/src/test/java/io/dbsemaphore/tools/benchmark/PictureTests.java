package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.tools.benchmark.Figures.Figure;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

/** The picture, and the files of the repository that show the same figures. */
class PictureTests {

    private static final Path ROOT = Path.of("../..");
    private static final Path PUBLISHED = ROOT.resolve("docs/images/benchmark.svg");

    private static final Pattern COLOR = Pattern.compile("(text|\\.[a-z]+) \\{[^}]*?fill: (#[0-9a-f]{6})");
    private static final double CONTRAST_OF_TEXT = 4.5;
    private static final double CONTRAST_OF_GRAPHICS = 3;

    @Test
    void theRepositoryHasThePictureOfItsFigures() throws Exception {
        Figures figures = Figures.read(Picture.figuresOf(PUBLISHED));

        assertThat(figures.missing()).isEmpty();
        assertThat(PUBLISHED).content().as("Draw it again, with --redraw").isEqualTo(new Picture(figures).svg());
    }

    @Test
    void theReadmeTellsTheFiguresOfTheRepository() throws Exception {
        String readme = Files.readString(ROOT.resolve("README.md")).replaceAll("\\s+", " ");

        assertThat(new ReadmeFigures(Figures.read(Picture.figuresOf(PUBLISHED))).paragraphs())
                .hasSize(2)
                .allSatisfy(paragraph -> assertThat(readme).contains(paragraph));
        assertThat(readme).contains("](docs/images/benchmark.svg)");
    }

    @Test
    void barsAreAsLongAsTheFiguresSay() throws Exception {
        List<Element> bars = bars(Scenario.THREADS_32, 4_000, 1_000, 0.2);

        assertThat(bars).extracting(bar -> bar.getAttribute("class")).containsExactly("own", "other", "other");
        assertThat(width(bars.get(1))).isCloseTo(width(bars.get(0)) / 4, within(0.1));
        assertThat(width(bars.get(2))).isEqualTo(1);
    }

    @Test
    void aLoneAcquireHasItsTimeBesideItsRate() throws Exception {
        List<Element> bars = bars(Scenario.ONE_THREAD, 4_000, 1_000);

        assertThat(bars).hasSize(4);
        assertThat(width(bars.get(2))).as("0.25 ms").isCloseTo(width(bars.get(3)) / 4, within(0.1));
    }

    @Test
    void tellsItsFiguresInWords() throws Exception {
        Document drawn = parse(picture(Scenario.ONE_THREAD, 4_000, 1_000, 0.2));

        assertThat(drawn.getDocumentElement().getAttribute("aria-labelledby")).isEqualTo("title desc");
        assertThat(drawn.getElementsByTagName("title").getLength()).isOne();
        assertThat(drawn.getElementsByTagName("desc").item(0).getTextContent())
                .isEqualTo("1 thread, 1 semaphore: DB Semaphore 4,000, bare UPDATE 1,000, textbook 0.2 (3 failed). "
                        + "1 thread, median time of an acquire: "
                        + "DB Semaphore 0.25 ms, bare UPDATE 1.00 ms, textbook 5,000 ms.");
        assertThat(elements(drawn, "text"))
                .extracting(Element::getTextContent)
                .contains("4,000", "0.2 (3 failed)", "29 November 2026, 2 <processors> & more, MySQL 9.7.4")
                .contains(
                        "Redisson is on Redis 7.0.15 (appendonly=no).",
                        "The authors of DB Semaphore wrote this benchmark.");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isReadable(boolean dark) {
        Map<String, String> colors = colors(picture(Scenario.THREADS_32, 1), dark);
        String page = colors.get(".page");

        assertThat(colors).containsOnlyKeys("text", ".note", ".page", ".other", ".own");
        for (String text : List.of("text", ".note")) {
            assertThat(contrast(colors.get(text), page)).as(text).isGreaterThan(CONTRAST_OF_TEXT);
        }
        for (String bar : List.of(".other", ".own")) {
            assertThat(contrast(colors.get(bar), page)).as(bar).isGreaterThan(CONTRAST_OF_GRAPHICS);
        }
    }

    private static List<Element> bars(Scenario scenario, double... pairsPerSecond) throws Exception {
        return elements(parse(picture(scenario, pairsPerSecond)), "rect").stream()
                .filter(rectangle -> !rectangle.getAttribute("class").equals("page"))
                .toList();
    }

    /** So many pairs per second of the library, of the bare UPDATE and of the textbook, which fails; each acquire takes all of the time. */
    private static String picture(Scenario scenario, double... pairsPerSecond) {
        List<Approach> approaches = List.of(Approach.DB_SEMAPHORE, Approach.BARE_UPDATE, Approach.TEXTBOOK);
        Map<Condition, String> conditions = new EnumMap<>(Condition.class);
        Stream.of(Condition.values()).forEach(condition -> conditions.put(condition, "?"));
        conditions.put(Condition.DATE, "2026-11-29");
        conditions.put(Condition.MACHINE, "2 <processors> & more");
        conditions.put(Condition.DATABASE, "MySQL 9.7.4");
        conditions.put(Condition.REDIS, "Redis 7.0.15 (appendonly=no)");
        return new Picture(new Figures(
                        conditions,
                        IntStream.range(0, pairsPerSecond.length)
                                .mapToObj(i -> new Figure(
                                        scenario,
                                        approaches.get(i),
                                        pairsPerSecond[i],
                                        1_000 / pairsPerSecond[i],
                                        approaches.get(i) == Approach.TEXTBOOK ? 3 : 0))
                                .toList()))
                .svg();
    }

    private static Document parse(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static List<Element> elements(Document document, String tag) {
        var found = document.getElementsByTagName(tag);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .toList();
    }

    private static double width(Element bar) {
        return Double.parseDouble(bar.getAttribute("width"));
    }

    /** The fill of each class of the style sheet. */
    private static Map<String, String> colors(String svg, boolean dark) {
        int media = svg.indexOf("@media (prefers-color-scheme: dark)");
        return COLOR.matcher(dark ? svg.substring(media) : svg.substring(0, media))
                .results()
                .collect(
                        Collectors.toMap((MatchResult found) -> found.group(1), (MatchResult found) -> found.group(2)));
    }

    /** As WCAG 2 defines it. */
    private static double contrast(String color, String other) {
        double one = luminance(color);
        double two = luminance(other);
        return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    }

    private static double luminance(String color) {
        ToDoubleFunction<Integer> channel = position -> {
            double value = Integer.parseInt(color.substring(position, position + 2), 16) / 255.0;
            return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * channel.applyAsDouble(1)
                + 0.7152 * channel.applyAsDouble(3)
                + 0.0722 * channel.applyAsDouble(5);
    }
}
